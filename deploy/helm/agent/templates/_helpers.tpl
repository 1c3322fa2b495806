{{- define "agent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The release's name, and the chart's where the release is called something else. 40: suffixes must fit. */}}
{{- define "agent.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := include "agent.name" . }}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "agent.selectorLabels" -}}
app.kubernetes.io/name: {{ include "agent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "agent.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: agent
app.kubernetes.io/part-of: resource-broker
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "agent.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "agent.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "agent.objectsNamespace" -}}
{{- default .Release.Namespace .Values.objectsNamespace }}
{{- end }}

{{- define "agent.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- /* Not empty: an agent always talks to its cluster. */}}
{{- define "agent.usesCluster" -}}true{{- end }}

{{- define "agent.usesHttp" -}}
{{- if eq .Values.broker.transport "http" }}true{{ end }}
{{- end }}

{{- /* Not empty where an invitation brings the certificate. */}}
{{- define "agent.isInvited" -}}
{{- if .Values.join.existingSecret }}true{{ end }}
{{- end }}

{{- /* Not empty where the certificate is a Secret that is mounted. */}}
{{- define "agent.usesFolder" -}}
{{- if and (include "agent.usesHttp" .) (not (include "agent.isInvited" .)) }}true{{ end }}
{{- end }}

{{- /* Not empty where the agent has an identity key: only the HTTP API asks for it. */}}
{{- define "agent.hasIdentity" -}}
{{- if and .Values.identity.enabled (include "agent.usesHttp" .) }}true{{ end }}
{{- end }}

{{- /* `agent` keeps its identity key there: by this name the rights of the agent are given. */}}
{{- define "agent.identitySecret" -}}resource-broker-agent-identity{{- end }}

{{- /* Not empty where virtual nodes are made by statements through the broker. */}}
{{- define "agent.relays" -}}
{{- if eq .Values.liqo.mode "relay" }}true{{ end }}
{{- end }}

{{- define "agent.lends" -}}
{{- if or .Values.liqo.enabled (include "agent.relays" .) }}true{{ end }}
{{- end }}

{{- define "agent.borrows" -}}
{{- if or .Values.liqo.borrow.enabled (include "agent.relays" .) }}true{{ end }}
{{- end }}

{{- /*
Ports of the broker: those of its addresses, 443 where one names none, and 8443, on which its pods listen. A policy is applied
after a Service has replaced its port by that of the pod: behind a Service of this cluster only 8443 counts.
*/}}
{{- define "agent.brokerPorts" -}}
{{- $ports := default list .Values.networkPolicy.brokerPorts }}
{{- if include "agent.usesHttp" . }}
{{- $ports = prepend $ports 8443 }}
{{- range .Values.broker.urls }}
{{- $ports = append $ports (regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" | default "443" | int) }}
{{- end }}
{{- end }}
{{- $ports | uniq | toJson }}
{{- end }}

{{- define "broker.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The release's name, and the chart's where the release is called something else. 40: suffixes must fit. */}}
{{- define "broker.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := include "broker.name" . }}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "broker.selectorLabels" -}}
app.kubernetes.io/name: {{ include "broker.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "broker.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "broker.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: broker
app.kubernetes.io/part-of: resource-broker
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "broker.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "broker.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "broker.objectsNamespace" -}}
{{- default .Release.Namespace .Values.objectsNamespace }}
{{- end }}

{{- define "broker.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- /* Not empty where the broker has objects in its own cluster. */}}
{{- define "broker.usesObjects" -}}
{{- if or .Values.views (has "kubernetes" .Values.interfaces) (eq .Values.store.type "kubernetes") }}true{{ end }}
{{- end }}

{{- /* Not empty where the broker talks to its own cluster: otherwise it gets neither rights nor a token. */}}
{{- define "broker.usesCluster" -}}
{{- if or (include "broker.usesObjects" .) (include "broker.isReplicated" .) (eq (include "broker.signer" .) "cert-manager") }}true{{ end }}
{{- end }}

{{- /* Who signs the certificates of agents that join; empty: nobody. */}}
{{- define "broker.signer" -}}
{{- if and .Values.enrollment.enabled (include "broker.servesHttp" .) }}
{{- if .Values.enrollment.signer }}{{ .Values.enrollment.signer }}
{{- else if and .Values.tls.certManager.enabled (eq .Values.tls.certManager.issuerRef.group "cert-manager.io") }}cert-manager
{{- else if .Values.enrollment.secretName }}embedded
{{- end }}
{{- end }}
{{- end }}

{{- /* Not empty where admins have an authority of their own. */}}
{{- define "broker.hasAdminCA" -}}
{{- if and .Values.adminCA.enabled (include "broker.usesCertificate" .) }}true{{ end }}
{{- end }}

{{- /* Not empty where cert-manager brings its ca.crt. */}}
{{- define "broker.asksForAdminCA" -}}
{{- if and (include "broker.hasAdminCA" .) .Values.tls.certManager.enabled (not .Values.adminCA.existingSecret) }}true{{ end }}
{{- end }}

{{- define "broker.adminSecret" -}}
{{- default "broker-admin-ca" .Values.adminCA.existingSecret }}
{{- end }}

{{- /* Not empty where agents call the API. */}}
{{- define "broker.servesHttp" -}}
{{- if has "http" .Values.interfaces }}true{{ end }}
{{- end }}

{{- /* Not empty where the broker's certificate is used: by the API, or by a dashboard that the network reaches. */}}
{{- define "broker.usesCertificate" -}}
{{- if or (include "broker.servesHttp" .) (include "broker.showsDashboard" .) }}true{{ end }}
{{- end }}

{{- define "broker.showsDashboard" -}}
{{- if and .Values.dashboard.enabled .Values.dashboard.exposed }}true{{ end }}
{{- end }}

{{- /* Not empty where replicas can share the ledger: one of them leads. */}}
{{- define "broker.isReplicated" -}}
{{- if ne .Values.store.type "sqlite" }}true{{ end }}
{{- end }}

{{- /* The label by which a pod says whether it leads. */}}
{{- define "broker.roleLabel" -}}broker.fluidos.eu/role{{- end }}

{{- /* Names of the pods, as the StatefulSet gives them. */}}
{{- define "broker.podNames" -}}
{{- $names := list }}
{{- range $number := until (int .Values.replicas) }}
{{- $names = append $names (printf "%s-%d" (include "broker.fullname" $) $number) }}
{{- end }}
{{- join ", " $names }}
{{- end }}

{{- define "broker.store" -}}
{{- if eq .Values.store.type "postgres" }}
{{- with .Values.store.postgres -}}
postgres://{{ .user }}@{{ .host }}:{{ .port }}/{{ .database }}?sslmode={{ .sslMode }}&schema={{ .schema }}
{{- if .caSecret.name }}&sslrootcert=/etc/broker/postgres/{{ .caSecret.key }}{{ end }}
{{- end }}
{{- else if eq .Values.store.type "kubernetes" -}}
kubernetes
{{- else -}}
sqlite:/var/lib/broker
{{- end }}
{{- end }}

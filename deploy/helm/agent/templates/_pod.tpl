{{- define "agent.podTemplate" -}}
metadata:
  labels:
    {{- include "agent.selectorLabels" . | nindent 4 }}
    app.kubernetes.io/component: agent
    app.kubernetes.io/part-of: resource-broker
    {{- with .Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "agent.serviceAccountName" . | quote }}
  automountServiceAccountToken: true
  # A Service called agent-broker would bring AGENT_BROKER_PORT and the like, where the variables of flags are.
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  # Restricted Pod Security. The group may read the certificate.
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile:
      type: RuntimeDefault
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  containers:
    - name: agent
      image: {{ include "agent.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: {{- include "agent.args" . | nindent 8 }}
      env:
        - name: POD_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        {{- if .Values.liqo.borrow.enabled }}
        # liqoctl keeps what it has learnt of an API server below it.
        - name: HOME
          value: /tmp
        {{- end }}
      ports:
        - name: metrics
          containerPort: 8080
        - name: probes
          containerPort: 8081
      startupProbe:
        httpGet:
          path: /healthz
          port: probes
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet:
          path: /healthz
          port: probes
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: probes
        periodSeconds: 5
        timeoutSeconds: 2
      resources: {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- with include "agent.volumeMounts" . | trim }}
      volumeMounts: {{- . | nindent 8 }}
      {{- end }}
  {{- with include "agent.volumes" . | trim }}
  volumes: {{- . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  affinity:
    {{- with .Values.affinity }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {{- include "agent.selectorLabels" . | nindent 16 }}
    {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "agent.args" -}}
{{- with .Values.clusterID }}
- --cluster-id={{ . }}
{{- end }}
{{- with .Values.clusterName }}
- {{ printf "--cluster-name=%s" . | quote }}
{{- end }}
{{- with .Values.clusterEndpoint }}
- {{ printf "--cluster-endpoint=%s" . | quote }}
{{- end }}
{{- if .Values.clusterLabels }}
{{- $labels := list }}
{{- range $name, $value := .Values.clusterLabels }}
{{- $labels = append $labels (printf "%s=%s" $name $value) }}
{{- end }}
- {{ printf "--cluster-labels=%s" (join "," $labels) | quote }}
{{- end }}
- --broker-transport={{ .Values.broker.transport }}
{{- if include "agent.usesHttp" . }}
{{- with .Values.broker.urls }}
- {{ printf "--broker-url=%s" (join "," .) | quote }}
{{- end }}
{{- if include "agent.isInvited" . }}
- --join-secret={{ .Release.Namespace }}/{{ .Values.join.existingSecret }}
{{- else }}
- --broker-cert-path=/etc/agent/certs
{{- end }}
{{- if include "agent.hasIdentity" . }}
- --identity-secret={{ .Release.Namespace }}/{{ include "agent.identitySecret" . }}
{{- end }}
{{- else }}
- --broker-kubeconfig=/etc/agent/broker/kubeconfig
- --broker-namespace={{ .Values.broker.namespace }}
{{- end }}
- --advertisement-name={{ .Values.advertisementName }}
- --advertisement-namespace={{ include "agent.objectsNamespace" . }}
- --advertisement-requeue-interval={{ .Values.advertisementInterval }}
- --instruction-poll-interval={{ .Values.instructionPollInterval }}
{{- with .Values.toleratedTaints }}
- {{ printf "--tolerated-taints=%s" (join "," .) | quote }}
{{- end }}
- --gpu-resources={{ join "," .Values.gpuResources }}
{{- with .Values.extendedResources }}
- --extended-resources={{ join "," . }}
{{- end }}
{{- include "agent.priceArgs" . }}
{{- include "agent.liqoArgs" . }}
{{- if gt (int .Values.replicas) 1 }}
- --leader-elect
- --leader-election-id={{ include "agent.fullname" . }}
{{- end }}
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --log-format={{ .Values.log.format }}
- --log-level={{ .Values.log.level }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "agent.priceArgs" -}}
{{- range $name := list "cpu" "memory" "gpu" "storage" "currency" }}
{{- with index $.Values.prices $name }}
- --price-{{ $name }}={{ . }}
{{- end }}
{{- end }}
{{- with .Values.prices.configMap }}
- --price-configmap={{ $.Release.Namespace }}/{{ . }}
{{- end }}
{{- end }}

{{- define "agent.liqoArgs" -}}
{{- if include "agent.lends" . }}
- --liqo-namespace={{ .Values.liqo.namespace }}
- --liqo-enforce={{ .Values.liqo.enforce }}
{{- end }}
{{- if .Values.liqo.borrow.enabled }}
- --liqo-mode=liqoctl
- --liqoctl=/usr/local/bin/liqoctl
- --kubeconfigs-dir=/etc/agent/kubeconfigs
- --liqo-gateway-type={{ .Values.liqo.borrow.gatewayType }}
- --liqo-networking={{ .Values.liqo.borrow.networking }}
- --liqo-timeout={{ .Values.liqo.borrow.timeout }}
{{- else if include "agent.relays" . }}
- --liqo-mode=relay
# Another network connects the clusters.
- --liqo-networking=false
- --liqo-timeout={{ .Values.liqo.borrow.timeout }}
{{- with .Values.liqo.warmPeers }}
- {{ printf "--warm-peers=%s" (join "," .) | quote }}
- --warm-for={{ $.Values.liqo.warmFor }}
{{- end }}
{{- if .Values.liqo.peerFingerprints }}
{{- $fingerprints := list }}
{{- range $cluster, $fingerprint := .Values.liqo.peerFingerprints }}
{{- $fingerprints = append $fingerprints (printf "%s=%s" $cluster $fingerprint) }}
{{- end }}
- {{ printf "--peer-fingerprints=%s" (join "," $fingerprints) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent.volumeMounts" -}}
{{- if include "agent.usesFolder" . }}
- name: certs
  mountPath: /etc/agent/certs
  readOnly: true
{{- else if not (include "agent.usesHttp" .) }}
- name: broker
  mountPath: /etc/agent/broker
  readOnly: true
{{- end }}
{{- if .Values.liqo.borrow.enabled }}
- name: kubeconfigs
  mountPath: /etc/agent/kubeconfigs
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- end }}
{{- end }}

{{- define "agent.volumes" -}}
{{- if include "agent.usesFolder" . }}
- name: certs
  secret:
    secretName: {{ .Values.tls.secretName | quote }}
    defaultMode: 0440
{{- else if not (include "agent.usesHttp" .) }}
- name: broker
  secret:
    secretName: {{ .Values.broker.kubeconfigSecret.name | quote }}
    defaultMode: 0440
    items:
      - key: {{ .Values.broker.kubeconfigSecret.key | quote }}
        path: kubeconfig
{{- end }}
{{- if .Values.liqo.borrow.enabled }}
- name: kubeconfigs
  secret:
    secretName: {{ .Values.liqo.borrow.kubeconfigsSecret | quote }}
    defaultMode: 0440
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
{{- end }}

{{- define "broker.podTemplate" -}}
metadata:
  labels:
    {{- include "broker.selectorLabels" . | nindent 4 }}
    app.kubernetes.io/component: broker
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
  serviceAccountName: {{ include "broker.serviceAccountName" . | quote }}
  automountServiceAccountToken: {{ include "broker.usesCluster" . | empty | not }}
  # A Service called broker-http would bring BROKER_HTTP_PORT, which is the variable of a flag.
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  # Restricted Pod Security. The group owns the volume and may read the certificate.
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  containers:
    - name: broker
      image: {{ include "broker.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: {{- include "broker.args" . | nindent 8 }}
      env:
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- if include "broker.isReplicated" . }}
        - name: POD_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        {{- end }}
        {{- if and (eq .Values.store.type "postgres") .Values.store.postgres.passwordSecret.name }}
        - name: PGPASSWORD
          valueFrom:
            secretKeyRef: {{- toYaml .Values.store.postgres.passwordSecret | nindent 14 }}
        {{- end }}
      ports:
        {{- if include "broker.servesHttp" . }}
        - name: https
          containerPort: 8443
        {{- end }}
        - name: metrics
          containerPort: 8080
        - name: probes
          containerPort: 8081
        {{- if include "broker.showsDashboard" . }}
        - name: dashboard
          containerPort: {{ .Values.dashboard.port }}
        {{- end }}
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
          {{- if include "broker.isReplicated" . }}
          # Who stands by is as ready as it can be. The Service finds the one that leads by its label.
          path: /readyz?exclude=leading
          {{- else }}
          path: /readyz
          {{- end }}
          port: probes
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources: {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- with include "broker.volumeMounts" . | trim }}
      volumeMounts: {{- . | nindent 8 }}
      {{- end }}
  {{- with include "broker.volumes" . | trim }}
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
              matchLabels: {{- include "broker.selectorLabels" . | nindent 16 }}
    {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "broker.args" -}}
- --broker-interface={{ join "," .Values.interfaces }}
{{- if include "broker.servesHttp" . }}
- --http-port=8443
{{- end }}
{{- if include "broker.usesCertificate" . }}
- --http-cert-path=/etc/broker/certs
- --tls-min-version={{ .Values.tls.minVersion }}
- {{ printf "--admin-ou=%s" .Values.tls.adminOU | quote }}
{{- end }}
{{- if include "broker.hasAdminCA" . }}
- --admin-ca=/etc/broker/admin-ca/ca.crt
{{- end }}
{{- with include "broker.signer" . }}
{{- if eq . "embedded" }}
- --enrollment-cert-path=/etc/broker/enrollment
{{- else }}
- {{ printf "--enrollment-issuer=%s/%s" $.Values.tls.certManager.issuerRef.kind $.Values.tls.certManager.issuerRef.name | quote }}
{{- end }}
- --enrollment-lifetime={{ $.Values.enrollment.lifetime }}
{{- end }}
- --http-namespace={{ include "broker.objectsNamespace" . }}
- --views={{ ternary "on" "off" .Values.views }}
- {{ printf "--store=%s" (include "broker.store" .) | quote }}
- --replica-name=$(POD_NAME)
{{- if include "broker.isReplicated" . }}
- --lease-duration={{ .Values.store.leaseDuration }}
- --pod-role-label={{ include "broker.roleLabel" . }}
{{- end }}
{{- if .Values.policy }}
- --policy=/etc/broker/policy/policy.yaml
{{- end }}
{{- if .Values.dashboard.enabled }}
- --dashboard-bind-address={{ ternary "" "127.0.0.1" .Values.dashboard.exposed }}:{{ .Values.dashboard.port }}
{{- end }}
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --log-format={{ .Values.log.format }}
- --log-level={{ .Values.log.level }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "broker.volumeMounts" -}}
{{- if include "broker.usesCertificate" . }}
- name: certs
  mountPath: /etc/broker/certs
  readOnly: true
{{- end }}
{{- if include "broker.hasAdminCA" . }}
- name: admin-ca
  mountPath: /etc/broker/admin-ca
  readOnly: true
{{- end }}
{{- if eq (include "broker.signer" .) "embedded" }}
- name: enrollment
  mountPath: /etc/broker/enrollment
  readOnly: true
{{- end }}
{{- if eq .Values.store.type "sqlite" }}
- name: ledger
  mountPath: /var/lib/broker
{{- end }}
{{- if and (eq .Values.store.type "postgres") .Values.store.postgres.caSecret.name }}
- name: postgres-ca
  mountPath: /etc/broker/postgres
  readOnly: true
{{- end }}
{{- if .Values.policy }}
- name: policy
  mountPath: /etc/broker/policy
  readOnly: true
{{- end }}
{{- end }}

{{- define "broker.volumes" -}}
{{- if include "broker.usesCertificate" . }}
- name: certs
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ .Values.tls.secretName | quote }}
      {{- with .Values.tls.crlSecretName }}
      - secret:
          name: {{ . | quote }}
          items:
            - key: crl.pem
              path: crl.pem
      {{- end }}
{{- end }}
{{- if include "broker.hasAdminCA" . }}
- name: admin-ca
  secret:
    secretName: {{ include "broker.adminSecret" . | quote }}
    defaultMode: 0440
    # Nothing else that the Secret may hold.
    items:
      - key: {{ .Values.adminCA.key | quote }}
        path: ca.crt
{{- end }}
{{- if eq (include "broker.signer" .) "embedded" }}
# Not in the ledger's volume, whose backups go elsewhere.
- name: enrollment
  secret:
    secretName: {{ .Values.enrollment.secretName | quote }}
    defaultMode: 0440
{{- end }}
{{- if and (eq .Values.store.type "sqlite") .Values.store.sqlite.existingClaim }}
- name: ledger
  persistentVolumeClaim:
    claimName: {{ .Values.store.sqlite.existingClaim | quote }}
{{- end }}
{{- if and (eq .Values.store.type "postgres") .Values.store.postgres.caSecret.name }}
- name: postgres-ca
  secret:
    secretName: {{ .Values.store.postgres.caSecret.name | quote }}
    defaultMode: 0440
    items:
      - key: {{ .Values.store.postgres.caSecret.key | quote }}
        path: {{ .Values.store.postgres.caSecret.key | quote }}
{{- end }}
{{- if .Values.policy }}
- name: policy
  configMap:
    name: {{ include "broker.fullname" . }}-policy
{{- end }}
{{- end }}

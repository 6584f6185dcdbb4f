{{- define "accelerando.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- define "accelerando.selector" -}}
app.kubernetes.io/name: accelerando
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}
{{- define "accelerando.labels" -}}
{{ include "accelerando.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}
{{- define "accelerando.image" -}}
{{- if .Values.image.digest -}}
image: "{{ .Values.image.repository }}@{{ .Values.image.digest }}"
{{- else -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
{{- end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}
{{- define "accelerando.env" -}}
- { name: ACCELERANDO_CONFIG, value: /etc/accelerando/accelerando.toml }
- { name: ACCELERANDO_KAFKA_BROKERS, value: {{ join "," .Values.kafka.brokers | quote }} }
- { name: ACCELERANDO_ADMIN_LISTEN, value: '0.0.0.0:6671' }
- { name: ACCELERANDO_LOG_PRETTY, value: never }
{{- end -}}
{{- define "accelerando.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: admin }
  periodSeconds: 5
  timeoutSeconds: 3
{{- end -}}

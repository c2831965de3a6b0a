{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The metrics of pending claims: the driver's program as one process of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.claimMetrics" -}}
{{- $root := .root -}}
{{- if $root.Values.claimMetrics.enabled }}
{{- include "dra4j.claimMetricsRights" . }}
---
{{- include "dra4j.claimMetricsServer" . }}
{{- if include "dra4j.isOn" (dict "root" $root "value" $root.Values.monitoring.podMonitor.enabled "api" "monitoring.coreos.com/v1/PodMonitor") }}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  {{- include "dra4j.claimMetricsMetadata" $root | nindent 2 }}
    {{- with $root.Values.monitoring.podMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels: {{- include "dra4j.claimMetricsSelectorLabels" $root | nindent 6 }}
  podMetricsEndpoints:
    - {port: metrics, path: /metrics, honorLabels: true, interval: {{ $root.Values.monitoring.podMonitor.interval | quote }}}
{{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
{{- include "dra4j.claimMetricsNetworkPolicy" $root }}
{{- end }}
{{- end }}
{{- end }}

{{/* The alerts on its metrics. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.claimAlerts" -}}
{{- $root := .root -}}
{{- $selector := list -}}
{{- range $key, $value := include "dra4j.claimMetricsSelectorLabels" $root | fromYaml -}}
{{- $selector = append $selector (printf "%s=%s" $key $value) -}}
{{- end -}}
{{- (index $root.Subcharts "dra4j-library").Files.Get "files/claim-alerts.yaml"
    | replace "DRIVER" .driver
    | replace "NAMESPACE" (include "dra4j.namespace" $root)
    | replace "DEPLOYMENT" (include "dra4j.claimMetricsName" $root)
    | replace "PODS" (join "," $selector) -}}
{{- end }}

{{- define "dra4j.claimMetricsName" -}}
{{ include "dra4j.fullname" . }}-claims
{{- end }}

{{/* Labels other than those of the driver's pods, which the DaemonSet, the PodMonitor and the NetworkPolicy select. */}}
{{- define "dra4j.claimMetricsSelectorLabels" -}}
app.kubernetes.io/name: {{ include "dra4j.name" . }}-claims
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dra4j.claimMetricsLabels" -}}
{{- merge (include "dra4j.claimMetricsSelectorLabels" . | fromYaml) (include "dra4j.labels" . | fromYaml) | toYaml -}}
{{- end }}

{{- define "dra4j.claimMetricsMetadata" -}}
name: {{ include "dra4j.claimMetricsName" . }}
namespace: {{ include "dra4j.namespace" . }}
labels: {{- include "dra4j.claimMetricsLabels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.claimMetricsClusterMetadata" -}}
name: {{ include "dra4j.claimMetricsName" . }}
labels: {{- include "dra4j.claimMetricsLabels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.claimMetricsRights" -}}
{{- $root := .root }}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "dra4j.claimMetricsMetadata" $root | nindent 2 }}
{{- if $root.Values.rbac.create }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{- include "dra4j.claimMetricsClusterMetadata" $root | nindent 2 }}
rules: {{- include "dra4j.rules" (dict "root" $root "driver" .driver "parts" (list "claim-metrics") "namespace" "") | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{- include "dra4j.claimMetricsClusterMetadata" $root | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ include "dra4j.claimMetricsName" $root }}}
subjects:
  - kind: ServiceAccount
    name: {{ include "dra4j.claimMetricsName" $root }}
    namespace: {{ include "dra4j.namespace" $root }}
{{- end }}
{{- end }}

{{- define "dra4j.claimMetricsServer" -}}
{{- $root := .root }}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "dra4j.claimMetricsMetadata" $root | nindent 2 }}
spec:
  # A second replica would also list all claims, and serve the same metrics.
  replicas: 1
  selector:
    matchLabels: {{- include "dra4j.claimMetricsSelectorLabels" $root | nindent 6 }}
  template:
    metadata:
      labels: {{- include "dra4j.claimMetricsLabels" $root | nindent 8 }}
      {{- with $root.Values.claimMetrics.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec: {{- include "dra4j.claimMetricsPod" . | nindent 6 }}
---
apiVersion: v1
kind: Service
metadata: {{- include "dra4j.claimMetricsMetadata" $root | nindent 2 }}
spec:
  selector: {{- include "dra4j.claimMetricsSelectorLabels" $root | nindent 4 }}
  ports:
    - {name: metrics, port: {{ $root.Values.claimMetrics.containerPort }}, targetPort: metrics}
{{- end }}

{{/* The pod's spec. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.claimMetricsPod" -}}
{{- $root := .root -}}
{{- $values := $root.Values.claimMetrics -}}
serviceAccountName: {{ include "dra4j.claimMetricsName" $root }}
enableServiceLinks: false
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
  {{- /* OpenShift chooses the user and group IDs of each namespace, and refuses others. */}}
  {{- if not (include "dra4j.isOpenShift" $root) }}
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- end }}
containers:
  - name: claim-metrics
    {{- include "dra4j.claimMetricsContainer" . | nindent 4 }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{/* The container, except its name. It needs none of the driver's settings. */}}
{{- define "dra4j.claimMetricsContainer" -}}
{{- $root := .root -}}
{{- $values := $root.Values.claimMetrics -}}
image: {{ include "dra4j.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: [{{ .command | quote }}]
args: [claim-metrics, "-v", {{ $root.Values.logVerbosity | quote }}]
env:
  - {name: DRIVER_NAME, value: {{ .driver | quote }}}
  - {name: LOGGING_FORMAT, value: {{ $root.Values.loggingFormat | quote }}}
  - {name: HTTP_ENDPOINT, value: {{ printf ":%v" $values.containerPort | quote }}}
ports:
  - {name: metrics, containerPort: {{ $values.containerPort }}}
startupProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with $values.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Takes the root. */}}
{{- define "dra4j.claimMetricsNetworkPolicy" }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.claimMetricsMetadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- include "dra4j.claimMetricsSelectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    # Probes come from the node, which most network plugins allow in any case.
    - ports: [{protocol: TCP, port: metrics}]
      {{- with .Values.networkPolicy.metricsFrom }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
  egress: {{- include "dra4j.apiServerEgress" . | nindent 4 }}
{{- end }}

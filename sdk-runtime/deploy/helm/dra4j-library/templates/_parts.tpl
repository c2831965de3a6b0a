{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/*
Parts of a driver that run apart from the nodes: its program as a webhook, as a controller, or counting pending claims.
The templates take the dict of dra4j.daemonset with:
  part        the end of its objects' names
  process     the container, and the program's first argument
  values      of the part, under its own key
  replicas
  port        the name of the container's port: metrics, or https
  noToken     whether its pods get no token for the API server
  variables   YAML: variables in addition to those of all parts
  fields      YAML: further fields of the container
  partMounts  YAML: volumeMounts in addition to that of all parts
  partVolumes YAML: volumes in addition to that of all parts
*/}}
{{- define "dra4j.partName" -}}
{{ include "dra4j.fullname" .root }}-{{ .part }}
{{- end }}

{{/* Labels other than those of the driver's pods, which the DaemonSet, the PodMonitor and the NetworkPolicy select. */}}
{{- define "dra4j.partSelectorLabels" -}}
app.kubernetes.io/name: {{ include "dra4j.name" .root }}-{{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "dra4j.partLabels" -}}
{{- merge (include "dra4j.partSelectorLabels" . | fromYaml) (include "dra4j.labels" .root | fromYaml) | toYaml -}}
{{- end }}

{{- define "dra4j.partMetadata" -}}
namespace: {{ include "dra4j.namespace" .root }}
{{ include "dra4j.partClusterMetadata" . }}
{{- end }}

{{- define "dra4j.partClusterMetadata" -}}
name: {{ include "dra4j.partName" . }}
labels: {{- include "dra4j.partLabels" . | nindent 2 }}
{{- end }}

{{/* The ServiceAccount, and its rights in files/rights.yaml, which are those of the process. */}}
{{- define "dra4j.partRights" -}}
{{- $root := .root -}}
{{- $rights := dict "root" $root "driver" .driver "parts" (list .process) }}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
{{- if $root.Values.rbac.create }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{- include "dra4j.partClusterMetadata" . | nindent 2 }}
rules: {{- include "dra4j.rules" (set $rights "namespace" "") | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{- include "dra4j.partClusterMetadata" . | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ include "dra4j.partName" . }}}
subjects: {{- include "dra4j.partSubjects" . | nindent 2 }}
{{- with include "dra4j.rules" (set $rights "namespace" "release") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{- include "dra4j.partMetadata" $ | nindent 2 }}
rules: {{- . | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{- include "dra4j.partMetadata" $ | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "dra4j.partName" $ }}}
subjects: {{- include "dra4j.partSubjects" $ | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "dra4j.partSubjects" -}}
- kind: ServiceAccount
  name: {{ include "dra4j.partName" . }}
  namespace: {{ include "dra4j.namespace" .root }}
{{- end }}

{{- define "dra4j.partDeployment" }}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels: {{- include "dra4j.partSelectorLabels" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      labels: {{- include "dra4j.partLabels" . | nindent 8 }}
      {{- with .values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec: {{- include "dra4j.partPod" . | nindent 6 }}
{{- end }}

{{- define "dra4j.partPod" -}}
serviceAccountName: {{ include "dra4j.partName" . }}
{{- if .noToken }}
automountServiceAccountToken: false
{{- end }}
enableServiceLinks: false
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "dra4j.partSelectorLabels" . | nindent 8 }}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
  {{- /* OpenShift chooses the user and group IDs of each namespace, and refuses others. */}}
  {{- if not (include "dra4j.isOpenShift" .root) }}
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- end }}
containers:
  - name: {{ .process }}
    {{- include "dra4j.partContainer" . | include "dra4j.checkedEnv" | nindent 4 }}
volumes:
  {{- with .partVolumes }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{/* The container, except its name. */}}
{{- define "dra4j.partContainer" -}}
{{- $scheme := ternary "HTTPS" "HTTP" (eq .port "https") -}}
image: {{ include "dra4j.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: [{{ .command | quote }}]
args: [{{ .process }}, "-v", {{ .root.Values.logVerbosity | quote }}]
env:
  - {name: DRIVER_NAME, value: {{ .driver | quote }}}
  - {name: LOGGING_FORMAT, value: {{ .root.Values.loggingFormat | quote }}}
  {{- if eq .port "metrics" }}
  - {name: HTTP_ENDPOINT, value: {{ printf ":%v" .values.containerPort | quote }}}
  {{- end }}
  {{- with .variables }}
  {{- . | trim | nindent 2 }}
  {{- end }}
ports:
  - {name: {{ .port }}, containerPort: {{ .values.containerPort }}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- with .fields }}
{{ . | trim }}
{{- end }}
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with .values.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  {{- with .partMounts }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "dra4j.partDisruptionBudget" }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "dra4j.partSelectorLabels" . | nindent 6 }}
{{- end }}

{{/* The PodMonitor and the NetworkPolicy of a part that serves metrics, if they are on. */}}
{{- define "dra4j.partMonitoring" -}}
{{- $selector := include "dra4j.partSelectorLabels" . -}}
{{- include "dra4j.podMonitor" (dict "root" .root "metadata" (include "dra4j.partMetadata" .) "selector" $selector) }}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- $selector | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    # Probes come from the node, which most network plugins allow in any case.
    - ports: [{protocol: TCP, port: metrics}]
      {{- with .root.Values.networkPolicy.metricsFrom }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
  egress: {{- include "dra4j.apiServerEgress" .root | nindent 4 }}
{{- end }}
{{- end }}

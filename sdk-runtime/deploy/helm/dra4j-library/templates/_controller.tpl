{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* Pools of several nodes: the driver's program as a controller of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.controller" -}}
{{- $root := .root -}}
{{- if $root.Values.controller.enabled }}
{{- include "dra4j.controllerRights" . }}
---
{{- include "dra4j.controllerServer" . }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "dra4j.controllerSelectorLabels" $root | nindent 6 }}
{{- if include "dra4j.isOn" (dict "root" $root "value" $root.Values.monitoring.podMonitor.enabled "api" "monitoring.coreos.com/v1/PodMonitor") }}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
    {{- with $root.Values.monitoring.podMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels: {{- include "dra4j.controllerSelectorLabels" $root | nindent 6 }}
  podMetricsEndpoints:
    - {port: metrics, path: /metrics, honorLabels: true, interval: {{ $root.Values.monitoring.podMonitor.interval | quote }}}
{{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- include "dra4j.controllerSelectorLabels" $root | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    # Probes come from the node, which most network plugins allow in any case.
    - ports: [{protocol: TCP, port: metrics}]
      {{- with $root.Values.networkPolicy.metricsFrom }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
  egress: {{- include "dra4j.apiServerEgress" $root | nindent 4 }}
{{- end }}
{{- if $root.Values.admissionPolicy.enabled }}
---
{{- include "dra4j.controllerPolicy" . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "dra4j.controllerName" -}}
{{ include "dra4j.fullname" . }}-controller
{{- end }}

{{/* Labels other than those of the driver's pods, which the DaemonSet, the PodMonitor and the NetworkPolicy select. */}}
{{- define "dra4j.controllerSelectorLabels" -}}
app.kubernetes.io/name: {{ include "dra4j.name" . }}-controller
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dra4j.controllerLabels" -}}
{{- merge (include "dra4j.controllerSelectorLabels" . | fromYaml) (include "dra4j.labels" . | fromYaml) | toYaml -}}
{{- end }}

{{- define "dra4j.controllerMetadata" -}}
name: {{ include "dra4j.controllerName" . }}
namespace: {{ include "dra4j.namespace" . }}
labels: {{- include "dra4j.controllerLabels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.controllerClusterMetadata" -}}
name: {{ include "dra4j.controllerName" . }}
labels: {{- include "dra4j.controllerLabels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.controllerRights" -}}
{{- $root := .root -}}
{{- $parts := list "controller" }}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
{{- if $root.Values.rbac.create }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{- include "dra4j.controllerClusterMetadata" $root | nindent 2 }}
rules: {{- include "dra4j.rules" (dict "root" $root "driver" .driver "parts" $parts "namespace" "") | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{- include "dra4j.controllerClusterMetadata" $root | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ include "dra4j.controllerName" $root }}}
subjects: {{- include "dra4j.controllerSubjects" $root | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
rules: {{- include "dra4j.rules" (dict "root" $root "driver" .driver "parts" $parts "namespace" "release") | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "dra4j.controllerName" $root }}}
subjects: {{- include "dra4j.controllerSubjects" $root | nindent 2 }}
{{- end }}
{{- end }}

{{- define "dra4j.controllerSubjects" -}}
- kind: ServiceAccount
  name: {{ include "dra4j.controllerName" . }}
  namespace: {{ include "dra4j.namespace" . }}
{{- end }}

{{- define "dra4j.controllerServer" -}}
{{- $root := .root -}}
{{- $values := $root.Values.controller }}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "dra4j.controllerMetadata" $root | nindent 2 }}
spec:
  # One replica publishes, and the others wait to take over.
  replicas: {{ $values.replicas }}
  selector:
    matchLabels: {{- include "dra4j.controllerSelectorLabels" $root | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      labels: {{- include "dra4j.controllerLabels" $root | nindent 8 }}
      {{- with $values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "dra4j.controllerName" $root }}
      enableServiceLinks: false
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "dra4j.controllerSelectorLabels" $root | nindent 14 }}
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
        - name: controller
          {{- include "dra4j.controllerContainer" . | include "dra4j.checkedEnv" | nindent 10 }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{/* The container, except its name: the driver's program with the driver's settings, which say what to publish. */}}
{{- define "dra4j.controllerContainer" -}}
{{- $root := .root -}}
{{- $values := $root.Values.controller -}}
image: {{ include "dra4j.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: [{{ .command | quote }}]
args: [controller, "-v", {{ $root.Values.logVerbosity | quote }}]
env:
  - {name: DRIVER_NAME, value: {{ .driver | quote }}}
  - {name: LOGGING_FORMAT, value: {{ $root.Values.loggingFormat | quote }}}
  - {name: HTTP_ENDPOINT, value: {{ printf ":%v" $values.containerPort | quote }}}
  {{- with .env }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- with $values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
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

{{/* Lets the controller write only the driver's slices without a node. Takes root and driver. */}}
{{- define "dra4j.controllerPolicy" }}
{{- $root := .root }}
# The counterpart of the policy for the drivers on the nodes, which have another ServiceAccount.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{- include "dra4j.controllerClusterMetadata" $root | nindent 2 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [resource.k8s.io]
        apiVersions: ["*"]
        resources: [resourceslices]
        operations: [CREATE, UPDATE, DELETE]
  matchConditions:
    - name: by-the-controller
      expression: >-
        request.userInfo.username == "system:serviceaccount:{{ include "dra4j.namespace" $root }}:{{ include "dra4j.controllerName" $root }}"
  variables:
    - name: spec
      expression: >-
        (request.operation == "DELETE" ? oldObject : object).spec
    - name: slice
      expression: >-
        variables.spec.?nodeName.orValue("")
    - name: driver
      expression: >-
        variables.spec.?driver.orValue("")
  validations:
    - expression: variables.slice == ""
      messageExpression: >-
        "the controller may not write slices of node '" + variables.slice + "'"
    - expression: variables.driver == {{ .driver | quote }}
      messageExpression: >-
        "the controller of {{ .driver }} may not write slices of driver '" + variables.driver + "'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{- include "dra4j.controllerClusterMetadata" $root | nindent 2 }}
spec:
  policyName: {{ include "dra4j.controllerName" $root }}
  validationActions: [Deny]
{{- end }}

{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* Objects that only some clusters need: SCC, NetworkPolicy, ResourceQuota. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.cluster" -}}
{{- $root := .root -}}
{{- $container := index $root.Values.kubeletPlugin.containers .name -}}
{{- if include "dra4j.isOpenShift" $root }}
apiVersion: security.openshift.io/v1
kind: SecurityContextConstraints
metadata: {{- include "dra4j.clusterMetadata" $root | nindent 2 }}
users:
  - system:serviceaccount:{{ include "dra4j.namespace" $root }}:{{ include "dra4j.serviceAccount" $root }}
groups: []
priority: null
allowHostDirVolumePlugin: true
allowHostIPC: false
allowHostNetwork: false
allowHostPID: {{ .hostPID | default false }}
allowHostPorts: false
allowPrivilegedContainer: {{ ($container.securityContext).privileged | default false }}
allowPrivilegeEscalation: {{ ($container.securityContext).privileged | default false }}
allowedCapabilities: []
defaultAddCapabilities: []
requiredDropCapabilities: []
readOnlyRootFilesystem: true
runAsUser: {type: RunAsAny}
fsGroup: {type: RunAsAny}
supplementalGroups: {type: RunAsAny}
# MustRunAs would compare the pod's level with that of the namespace, and the pod has only a type.
seLinuxContext: {type: RunAsAny}
seccompProfiles: ["*"]
volumes: [configMap, emptyDir, hostPath, projected]
{{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.metadata" $root | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- include "dra4j.selectorLabels" $root | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- if gt (int $container.metricsPort) 0 }}
    - ports: [{protocol: TCP, port: metrics}]
      {{- with $root.Values.networkPolicy.metricsFrom }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
    # Probes come from the node, which most network plugins allow in any case.
    {{- if gt (int $container.healthcheckPort) 0 }}
    - ports: [{protocol: TCP, port: healthcheck}]
    {{- end }}
  egress: {{- include "dra4j.apiServerEgress" $root | nindent 4 }}
{{- end }}
{{- if $root.Values.resourceQuota.enabled }}
{{- $classes := list $root.Values.kubeletPlugin.priorityClassName }}
{{- range pick $root.Values "webhook" "claimMetrics" "controller" }}
{{- if .enabled }}{{ $classes = append $classes .priorityClassName }}{{ end }}
{{- end }}
---
# Some clusters, such as GKE, admit pods of the system's priority classes only where a quota allows them.
apiVersion: v1
kind: ResourceQuota
metadata: {{- include "dra4j.metadata" $root | nindent 2 }}
spec:
  hard:
    pods: {{ $root.Values.resourceQuota.pods | quote }}
  scopeSelector:
    matchExpressions:
      - scopeName: PriorityClass
        operator: In
        values: {{ $classes | compact | uniq | toJson }}
{{- end }}
{{- end }}

{{/* The rules of a NetworkPolicy for pods that talk only to the API server. Takes the root. */}}
{{- define "dra4j.apiServerEgress" -}}
# The API server; it is found by its address, without DNS.
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with .Values.networkPolicy.apiServerTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

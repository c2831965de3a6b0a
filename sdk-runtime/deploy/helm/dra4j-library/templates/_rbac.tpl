{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The rules of files/rights.yaml in a namespace ("" for the cluster, release for that of the release), by the parts that need them. Takes root, driver, parts, namespace. */}}
{{- define "dra4j.rules" -}}
{{- $file := (index .root.Subcharts "dra4j-library").Files.Get "files/rights.yaml" -}}
{{- range $right := fromYamlArray $file -}}
{{- $verbs := list -}}
{{- range $right.verbs -}}
{{- if has .for $.parts }}{{ $verbs = append $verbs .verb }}{{ end -}}
{{- end -}}
{{- if and $verbs (eq ($right.namespace | default "") $.namespace) }}
- apiGroups: [{{ $right.apiGroup | quote }}]
  resources: [{{ $right.resource | quote }}]
  {{- with $right.resourceName }}
  resourceNames: [{{ . | replace "DRIVER" $.driver | quote }}]
  {{- end }}
  verbs: {{ $verbs | toJson }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The ServiceAccount and its rights. Takes root, driver, parts: a list of always, events, status, binding. */}}
{{- define "dra4j.rbac" -}}
{{- $root := .root -}}
{{- if $root.Values.serviceAccount.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "dra4j.serviceAccount" $root }}
  namespace: {{ include "dra4j.namespace" $root }}
  labels: {{- include "dra4j.labels" $root | nindent 4 }}
  {{- with $root.Values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
---
{{- end }}
{{- if $root.Values.rbac.create }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{- include "dra4j.clusterMetadata" $root | nindent 2 }}
rules: {{- include "dra4j.rules" (dict "root" .root "driver" .driver "parts" .parts "namespace" "") | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{- include "dra4j.clusterMetadata" $root | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ include "dra4j.fullname" $root }}}
subjects: {{- include "dra4j.subjects" $root | nindent 2 }}
{{- with include "dra4j.rules" (dict "root" .root "driver" .driver "parts" .parts "namespace" "default") }}
---
# Events of objects without a namespace, such as Nodes, are in the namespace default.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  namespace: default
  {{- include "dra4j.clusterMetadata" $root | nindent 2 }}
rules: {{- . | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  namespace: default
  {{- include "dra4j.clusterMetadata" $root | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "dra4j.fullname" $root }}}
subjects: {{- include "dra4j.subjects" $root | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "dra4j.subjects" -}}
- kind: ServiceAccount
  name: {{ include "dra4j.serviceAccount" . }}
  namespace: {{ include "dra4j.namespace" . }}
{{- end }}

{{/* Lets the driver of a node write only the slices of that node. Takes the root. */}}
{{- define "dra4j.admissionPolicy" -}}
{{- if .Values.admissionPolicy.enabled }}
# An attacker who takes over one node can't offer devices of another.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{- include "dra4j.clusterMetadata" . | nindent 2 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [resource.k8s.io]
        apiVersions: ["*"]
        resources: [resourceslices]
        operations: [CREATE, UPDATE, DELETE]
  matchConditions:
    - name: by-the-driver
      expression: >-
        request.userInfo.username == "system:serviceaccount:{{ include "dra4j.namespace" . }}:{{ include "dra4j.serviceAccount" . }}"
  variables:
    # The node of the pod to which the token was issued.
    - name: own
      expression: >-
        request.userInfo.?extra["authentication.kubernetes.io/node-name"][0].orValue("")
    - name: slice
      expression: >-
        (request.operation == "DELETE" ? oldObject : object).spec.?nodeName.orValue("")
  validations:
    - expression: variables.own != ""
      message: the token of the driver names no node; it has to be that of a pod, which the kubelet mounts
    - expression: variables.own == variables.slice
      messageExpression: >-
        "the driver of node '" + variables.own + "' may not write slices of node '" + variables.slice + "'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{- include "dra4j.clusterMetadata" . | nindent 2 }}
spec:
  policyName: {{ include "dra4j.fullname" . }}
  validationActions: [Deny]
{{- end }}
{{- end }}

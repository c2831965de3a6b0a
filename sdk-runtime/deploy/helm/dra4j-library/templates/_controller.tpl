{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* Pools of several nodes: the driver's program as a controller of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.controller" -}}
{{- $values := .root.Values.controller -}}
{{- if $values.enabled }}
{{- /* One replica publishes, and the others wait to take over. */}}
{{- $own := dict "part" "controller" "process" "controller" "values" $values "replicas" $values.replicas "port" "metrics" }}
{{- $part := merge $own (dict "variables" (include "dra4j.controllerVariables" .)) . }}
{{- include "dra4j.partRights" $part }}
---
{{- include "dra4j.partDeployment" $part }}
---
{{- include "dra4j.partDisruptionBudget" $part }}
{{- include "dra4j.partMonitoring" $part }}
{{- if .root.Values.admissionPolicy.enabled }}
---
{{- include "dra4j.controllerPolicy" $part }}
{{- end }}
{{- end }}
{{- end }}

{{/* The driver's settings, which say what to publish. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.controllerVariables" -}}
{{- with .env }}
{{- . | trim }}
{{- end }}
{{- with .root.Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Lets the controller write only the driver's slices without a node. Takes the dict of dra4j.partName. */}}
{{- define "dra4j.controllerPolicy" }}
# The counterpart of the policy for the drivers on the nodes, which have another ServiceAccount.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{- include "dra4j.partClusterMetadata" . | nindent 2 }}
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
        request.userInfo.username == "system:serviceaccount:{{ include "dra4j.namespace" .root }}:{{ include "dra4j.partName" . }}"
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
metadata: {{- include "dra4j.partClusterMetadata" . | nindent 2 }}
spec:
  policyName: {{ include "dra4j.partName" . }}
  validationActions: [Deny]
{{- end }}

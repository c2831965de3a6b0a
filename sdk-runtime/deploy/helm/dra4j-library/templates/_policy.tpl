{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{- define "dra4j.devicePolicyName" -}}
{{ include "dra4j.fullname" . }}-policy
{{- end }}

{{/* The ConfigMap of the device policy, if there is one; the kubelet updates the file of running pods. */}}
{{- define "dra4j.devicePolicy" -}}
{{- if .Values.devicePolicy }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "dra4j.devicePolicyName" . }}
  namespace: {{ include "dra4j.namespace" . }}
  labels: {{- include "dra4j.labels" . | nindent 4 }}
data:
  device-policy.yaml: |
    {{- toYaml .Values.devicePolicy | nindent 4 }}
{{- end }}
{{- end }}

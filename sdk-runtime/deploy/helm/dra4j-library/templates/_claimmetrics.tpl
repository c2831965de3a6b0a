{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The metrics of pending claims: the driver's program as one process of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.claimMetrics" -}}
{{- $values := .root.Values.claimMetrics -}}
{{- if $values.enabled }}
{{- /* A second replica would also list all claims, and serve the same metrics. */}}
{{- $part := merge (dict "part" "claims" "process" "claim-metrics" "values" $values "replicas" 1 "port" "metrics") . }}
{{- include "dra4j.partRights" $part }}
---
{{- include "dra4j.partDeployment" $part }}
---
apiVersion: v1
kind: Service
metadata: {{- include "dra4j.partMetadata" $part | nindent 2 }}
spec:
  selector: {{- include "dra4j.partSelectorLabels" $part | nindent 4 }}
  ports:
    - {name: metrics, port: {{ $values.containerPort }}, targetPort: metrics}
{{- include "dra4j.partMonitoring" $part }}
{{- end }}
{{- end }}

{{/* The alerts on its metrics. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.claimAlerts" -}}
{{- $root := .root -}}
{{- $part := dict "root" $root "part" "claims" -}}
{{- $selector := list -}}
{{- range $key, $value := include "dra4j.partSelectorLabels" $part | fromYaml -}}
{{- $selector = append $selector (printf "%s=%s" $key $value) -}}
{{- end -}}
{{- (index $root.Subcharts "dra4j-library").Files.Get "files/claim-alerts.yaml"
    | replace "DRIVER" .driver
    | replace "NAMESPACE" (include "dra4j.namespace" $root)
    | replace "DEPLOYMENT" (include "dra4j.partName" $part)
    | replace "PODS" (join "," $selector) -}}
{{- end }}

{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The parts of monitoring: of the Prometheus Operator, and two dashboards: of drivers, and of devices by claim. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.monitoring" -}}
{{- $root := .root -}}
{{- $monitoring := $root.Values.monitoring -}}
{{- $container := index $root.Values.kubeletPlugin.containers .name -}}
{{- $files := (index $root.Subcharts "dra4j-library").Files -}}
{{- with include "dra4j.podMonitor" (dict "root" $root "metadata" (include "dra4j.metadata" $root) "selector" (include "dra4j.selectorLabels" $root)) }}
{{- if le (int $container.metricsPort) 0 }}
{{- fail (printf "monitoring.podMonitor is on, but kubeletPlugin.containers.%s.metricsPort is off: the driver serves no metrics; set monitoring.podMonitor.enabled=false." $.name) }}
{{- end }}
{{- . }}
{{- end }}
{{- if include "dra4j.isOn" (dict "root" $root "value" $monitoring.alerts.enabled "api" "monitoring.coreos.com/v1/PrometheusRule") }}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {{- include "dra4j.labelled" (list (include "dra4j.metadata" $root) $monitoring.alerts.labels) | nindent 2 }}
spec:
  groups:
    - name: {{ include "dra4j.fullname" $root }}
      rules:
        {{- $files.Get "files/alerts.yaml" | replace "DRIVER" .driver | fromYamlArray | toYaml | nindent 8 }}
        {{- if $root.Values.claimMetrics.enabled }}
        {{- include "dra4j.claimAlerts" . | fromYamlArray | toYaml | nindent 8 }}
        {{- end }}
{{- end }}
{{- if include "dra4j.isOn" (dict "root" $root "value" $monitoring.dashboard.enabled "api" "monitoring.coreos.com/v1/PodMonitor") }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "dra4j.fullname" $root }}-dashboard
  namespace: {{ include "dra4j.namespace" $root }}
  labels:
    {{- include "dra4j.labels" $root | nindent 4 }}
    {{- with $monitoring.dashboard.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
data:
  # By their UIDs: Grafana writes no dashboard of a folder with two files of one UID, as two releases would make.
  dra4j-drivers.json: {{ $files.Get "files/dashboard.json" | fromJson | toJson | quote }}
  dra4j-claims.json: {{ $files.Get "files/claims-dashboard.json" | fromJson | toJson | quote }}
{{- end }}
{{- end }}

{{/* A PodMonitor, where they are on. Takes root, metadata, selector. */}}
{{- define "dra4j.podMonitor" -}}
{{- $monitor := .root.Values.monitoring.podMonitor -}}
{{- if include "dra4j.isOn" (dict "root" .root "value" $monitor.enabled "api" "monitoring.coreos.com/v1/PodMonitor") }}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {{- include "dra4j.labelled" (list .metadata $monitor.labels) | nindent 2 }}
spec:
  selector:
    matchLabels: {{- .selector | nindent 6 }}
  podMetricsEndpoints:
    - {port: metrics, path: /metrics, honorLabels: true, interval: {{ $monitor.interval | quote }}}
{{- end }}
{{- end }}

{{/* An object's metadata with more labels, which may override others. Takes a list: the YAML, and the labels. */}}
{{- define "dra4j.labelled" -}}
{{- mergeOverwrite (fromYaml (first .)) (dict "labels" (last . | default dict)) | toYaml -}}
{{- end }}

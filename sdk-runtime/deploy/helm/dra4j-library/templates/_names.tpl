{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{- define "dra4j.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects; it is not doubled if the release has the name of the chart. */}}
{{- define "dra4j.fullname" -}}
{{- $name := include "dra4j.name" . -}}
{{- $both := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{ .Values.fullnameOverride | default $both | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "dra4j.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- define "dra4j.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "dra4j.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "dra4j.selectorLabels" -}}
app.kubernetes.io/name: {{ include "dra4j.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The value of a label for a version, which may have a plus sign. Takes the version. */}}
{{- define "dra4j.label" -}}
{{ . | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "dra4j.labels" -}}
{{ include "dra4j.selectorLabels" . }}
app.kubernetes.io/version: {{ include "dra4j.label" .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | include "dra4j.label" }}
{{- end }}

{{/* The metadata of an object of the cluster. */}}
{{- define "dra4j.clusterMetadata" -}}
name: {{ include "dra4j.fullname" . }}
labels: {{- include "dra4j.labels" . | nindent 2 }}
{{- end }}

{{/* The metadata of an object of the release's namespace. */}}
{{- define "dra4j.metadata" -}}
name: {{ include "dra4j.fullname" . }}
namespace: {{ include "dra4j.namespace" . }}
labels: {{- include "dra4j.labels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default ($.Chart.AppVersion | replace "+" "_") }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* "true" if a value of auto, true or false is on; auto is on where the API server has a kind. Takes root, value, api. */}}
{{- define "dra4j.isOn" -}}
{{- if eq (toString .value) "auto" -}}
{{- if .root.Capabilities.APIVersions.Has .api }}true{{ end -}}
{{- else if eq (toString .value) "true" -}}
true
{{- end -}}
{{- end }}

{{- define "dra4j.isOpenShift" -}}
{{ include "dra4j.isOn" (dict "root" . "value" .Values.openshift.enabled "api" "security.openshift.io/v1/SecurityContextConstraints") }}
{{- end }}

{{/*
A container's YAML. The last of several entries for a variable is kept: the API server does not merge a list with two of
one name. Stops the rendering if its env has a variable of NVIDIA's chart that would have no effect.
*/}}
{{- define "dra4j.checkedEnv" -}}
{{- $container := fromYaml . -}}
{{- $last := dict -}}
{{- range $i, $one := $container.env -}}
{{- if eq $one.name "LOG_VERBOSITY" -}}
{{- fail "env has LOG_VERBOSITY, which has no effect here: set logVerbosity instead." -}}
{{- end -}}
{{- $last = set $last $one.name $i -}}
{{- end -}}
{{- $env := list -}}
{{- range $i, $one := $container.env -}}
{{- if eq $i (get $last $one.name) }}{{ $env = append $env $one }}{{ end -}}
{{- end -}}
{{- if eq (len $env) (len $container.env) }}{{ . }}{{ else }}{{ toYaml (set $container "env" $env) }}{{ end -}}
{{- end }}

{{/* Stops the rendering if the installation would not work. */}}
{{- define "dra4j.validate" -}}
{{- if and (eq (include "dra4j.namespace" .) "default") (not .Values.allowDefaultNamespace) -}}
{{- fail "The namespace is default: install into a separate namespace (--namespace NAME --create-namespace), or set allowDefaultNamespace=true." -}}
{{- end -}}
{{- include "dra4j.validateParts" .Values -}}
{{- $update := .Values.kubeletPlugin.updateStrategy -}}
{{- if and (eq $update.type "RollingUpdate") $update.rollingUpdate -}}
{{- $isSurge := not (has (toString $update.rollingUpdate.maxSurge) (list "0" "0%" "<nil>")) -}}
{{- if eq $isSurge (not (has (toString $update.rollingUpdate.maxUnavailable) (list "0" "0%"))) -}}
{{- fail "kubeletPlugin.updateStrategy.rollingUpdate: exactly one of maxSurge and maxUnavailable must be 0; for updates without surge, set maxSurge=0 and maxUnavailable=1." -}}
{{- end -}}
{{- end -}}
{{- range $name, $container := .Values.kubeletPlugin.containers -}}
{{- if and $container.metricsPort (gt (int $container.metricsPort) 0) (eq (int $container.metricsPort) (int $container.healthcheckPort)) -}}
{{- fail (printf "kubeletPlugin.containers.%s: metricsPort and healthcheckPort are both %v; set one to another port." $name $container.metricsPort) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Stops the rendering if values belong to a part that is off. Takes the values. */}}
{{- define "dra4j.validateParts" -}}
{{- if and .webhook.refuseExtendedResources.names (not .webhook.enabled) -}}
{{- fail "webhook.refuseExtendedResources.names needs webhook.enabled: without it, no pod is refused." -}}
{{- end -}}
{{- if and (or .networkPolicy.metricsFrom .networkPolicy.apiServerTo) (not .networkPolicy.enabled) -}}
{{- fail "networkPolicy.metricsFrom and networkPolicy.apiServerTo need networkPolicy.enabled: without it, nothing is restricted." -}}
{{- end -}}
{{- if and .resourceQuota.enabled (not .kubeletPlugin.priorityClassName) -}}
{{- fail "resourceQuota.enabled needs kubeletPlugin.priorityClassName: the quota is for pods of that class." -}}
{{- end -}}
{{- if and .serviceAccount.annotations (not .serviceAccount.create) -}}
{{- fail "serviceAccount.annotations needs serviceAccount.create: annotate your own ServiceAccount instead." -}}
{{- end -}}
{{- end }}

{{/* Lines on optional parts for NOTES.txt. Takes root, name and, with a controller, driver. */}}
{{- define "dra4j.notes" -}}
{{- $container := index .root.Values.kubeletPlugin.containers .name }}

If there are no pods, and `kubectl describe daemonset` says that they violate PodSecurity, allow pods in its namespace that mount directories of the node:

  kubectl label namespace {{ include "dra4j.namespace" .root }} pod-security.kubernetes.io/enforce=privileged --overwrite
{{- if le (int $container.metricsPort) 0 }}

Without metricsPort there is no readiness probe: an update does not wait until devices are published.
{{- end }}
{{- if not .root.Values.rbac.create }}

rbac.create is off: the driver works once its ServiceAccount {{ include "dra4j.serviceAccount" .root }} has the rights of docs-site/reference/charts.md.
{{- if .root.Values.claimMetrics.enabled }}
The ServiceAccount {{ include "dra4j.partName" (dict "root" .root "part" "claims") }} needs the rights of claim-metrics there, or pending claims are not counted.
{{- end }}
{{- end }}
{{- with .root.Values.controller }}

{{- if .enabled }}

The controller's slices have no owner. After `helm uninstall`, or after an upgrade with controller.enabled=false, pods are still allocated their devices, which no driver prepares. Delete them:
{{- else }}

If controller.enabled was on before, the controller's slices are still there, and pods are allocated their devices, which no driver prepares. Delete them:
{{- end }} kubectl delete resourceslices --field-selector=spec.driver={{ $.driver }},spec.nodeName=
{{- if and .enabled (not $.root.Values.rbac.create) }}
Its ServiceAccount {{ include "dra4j.partName" (dict "root" $.root "part" "controller") }} needs the rights of controller in docs-site/reference/charts.md.
{{- end }}
{{- end }}
{{- if not .root.Values.admissionPolicy.enabled }}

admissionPolicy.enabled is off: anyone who takes over one node may write the slices of all nodes.
{{- end }}
{{- end }}

{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{- define "nvidia.driver" -}}
gpu.nvidia.com
{{- end }}

{{/* YAML of the dict that the library's templates take, without its root. */}}
{{- define "nvidia.parts" -}}
driver: {{ include "nvidia.driver" . }}
name: gpus
command: /usr/bin/gpu-kubelet-plugin
{{- if .Values.compatibility }}
daemonSet: dra-driver-nvidia-gpu-kubelet-plugin
podLabels: {dra-driver-nvidia-gpu-component: kubelet-plugin}
{{- end }}
{{- if or .Values.featureGates.MPSSupport .Values.featureGates.PassthroughSupport }}
# MPS daemons are processes of this container, and have to identify those of other containers by their PIDs. A GPU is taken
# for a virtual machine only when no process of the node has it open.
hostPID: true
{{- end }}
{{- if .Values.featureGates.MPSSupport }}
# The memory that MPS daemons share with other containers is mounted in the driver's directory.
propagation: Bidirectional
{{- end }}
affinity: |
  {{- include "nvidia.affinity" . | nindent 2 }}
env: |
  {{- include "nvidia.env" . | nindent 2 }}
# A driver container mounts the root when it is ready, and again when it is replaced: the new mount appears below a mount
# of the parent, but not in a mount of the root itself.
mounts: |
  - {name: driver-root-parent, mountPath: /driver-root-parent, readOnly: true, mountPropagation: HostToContainer}
  - {name: dev-root, mountPath: /dev-root, readOnly: true, mountPropagation: HostToContainer}
  {{- if .Values.featureGates.PassthroughSupport }}
  # The driver binds GPUs to other drivers by writing to it.
  - {name: sys, mountPath: /sys}
  {{- end }}
volumes: |
  {{- include "nvidia.volumes" . | nindent 2 }}
{{- $parts := list "always" }}
{{- if .Values.rbac.events }}{{ $parts = append $parts "events" }}{{ end }}
{{- if or .Values.dynamicMig.enabled .Values.featureGates.DynamicMIG }}
# The UUIDs of MIG devices are in the status of claims.
{{- $parts = append $parts "status" }}
{{- end }}
parts: {{ $parts | toJson }}
{{- end }}

{{- define "nvidia.env" -}}
{{- if .Values.compatibility }}
- {name: NVIDIA_METRICS, value: "true"}
{{- end }}
- {name: NVIDIA_DRIVER_ROOT, value: {{ .Values.nvidiaDriverRoot | quote }}}
- {name: CONTAINER_DRIVER_ROOT, value: {{ clean (printf "/driver-root-parent/%s" (base .Values.nvidiaDriverRoot)) | quote }}}
# NVIDIA's container runtime adds nothing to this container.
- {name: NVIDIA_VISIBLE_DEVICES, value: "void"}
{{- with .Values.driverFolders.libraries }}
- {name: DRIVER_LIBRARY_FOLDERS, value: {{ join "," . | quote }}}
{{- end }}
{{- with .Values.driverFolders.programs }}
- {name: DRIVER_PROGRAM_FOLDERS, value: {{ join "," . | quote }}}
{{- end }}
{{- if ne (clean .Values.devRoot) "/dev" }}
- {name: DEV_ROOT, value: {{ .Values.devRoot | quote }}}
- {name: CONTAINER_DEV_ROOT, value: /dev-root}
{{- end }}
{{- with .Values.nvidiaCDIHookPath }}
- {name: NVIDIA_CDI_HOOK_PATH, value: {{ . | quote }}}
{{- end }}
{{- with .Values.featureGates }}
{{- $gates := list }}
{{- range $gate, $on := . }}
{{- $gates = append $gates (printf "%s=%t" $gate $on) }}
{{- end }}
- {name: FEATURE_GATES, value: {{ join "," $gates | quote }}}
{{- end }}
{{- if not (has .Values.consumableShares (list nil "" "disabled")) }}
- {name: CONSUMABLE_SHARES, value: {{ .Values.consumableShares | toJson | trimAll "\"" | quote }}}
{{- end }}
{{- if .Values.dynamicMig.enabled }}
- {name: DYNAMIC_MIG, value: "true"}
{{- end }}
{{- if .Values.dynamicMig.destroyUnknownDevices }}
- {name: DESTROY_UNKNOWN_MIG_DEVICES, value: "true"}
{{- end }}
{{- if ne .Values.healthWatch "auto" }}
- {name: HEALTH_WATCH, value: {{ .Values.healthWatch }}}
{{- end }}
{{- if ne .Values.legacyPlugin "warn" }}
- {name: LEGACY_PLUGIN, value: {{ .Values.legacyPlugin }}}
{{- end }}
{{- with .Values.additionalXidsToIgnore }}
- {name: ADDITIONAL_XIDS_TO_IGNORE, value: {{ join "," . | quote }}}
{{- end }}
{{- with .Values.xidEffects }}
{{- $effects := list }}
{{- range $xid, $effect := . }}
{{- $effects = append $effects (printf "%s=%s" $xid $effect) }}
{{- end }}
- {name: XID_EFFECTS, value: {{ join "," $effects | quote }}}
{{- end }}
{{- if ne .Values.fabricEffect "None" }}
- {name: FABRIC_EFFECT, value: {{ .Values.fabricEffect }}}
{{- end }}
{{- with .Values.thresholds }}
{{- if .temperatureCelsius }}
- {name: TEMPERATURE_THRESHOLD, value: {{ .temperatureCelsius | quote }}}
{{- end }}
{{- if .powerWatts }}
- {name: POWER_THRESHOLD, value: {{ .powerWatts | quote }}}
{{- end }}
{{- if or .temperatureCelsius .powerWatts }}
- {name: THRESHOLD_INTERVAL, value: {{ .intervalSeconds | quote }}}
{{- end }}
{{- end }}
{{- with .Values.rescanIntervalSeconds }}
- {name: RESCAN_INTERVAL, value: {{ int64 . | quote }}}
{{- end }}
{{- end }}

{{- define "nvidia.volumes" -}}
- name: dev-root
  hostPath: {path: {{ .Values.devRoot | quote }}, type: {{ ternary "Directory" "DirectoryOrCreate" (eq (clean .Values.devRoot) "/dev") }}}
- name: driver-root-parent
  hostPath: {path: {{ clean .Values.nvidiaDriverRoot | dir | quote }}, type: DirectoryOrCreate}
{{- if .Values.featureGates.PassthroughSupport }}
- name: sys
  hostPath: {path: /sys, type: Directory}
{{- end }}
{{- end }}

{{/* The affinity of the values; each term also excludes nodes that GPU Operator marks, and there is at least one term. */}}
{{- define "nvidia.affinity" -}}
{{- $affinity := deepCopy (.Values.kubeletPlugin.affinity | default dict) -}}
{{- if .Values.kubeletPlugin.deployLabel -}}
{{- $may := dict "key" .Values.kubeletPlugin.deployLabel "operator" "NotIn" "values" (list "false" "paused-for-driver-upgrade" "paused-for-mig-change") -}}
{{- $node := $affinity.nodeAffinity | default dict -}}
{{- $required := $node.requiredDuringSchedulingIgnoredDuringExecution | default dict -}}
{{- $terms := list -}}
{{- range $required.nodeSelectorTerms | default (list dict) -}}
{{- $terms = append $terms (set (deepCopy .) "matchExpressions" (append (.matchExpressions | default list) $may)) -}}
{{- end -}}
{{- $_ := set $required "nodeSelectorTerms" $terms -}}
{{- $_ := set $node "requiredDuringSchedulingIgnoredDuringExecution" $required -}}
{{- $_ := set $affinity "nodeAffinity" $node -}}
{{- end -}}
{{- with $affinity }}{{ toYaml . }}{{ end -}}
{{- end }}

{{/* Refuses values that have no effect, or contradict each other. */}}
{{- define "nvidia.validate" -}}
{{- include "dra4j.validate" . -}}
{{- $gate := .Values.featureGates.DynamicMIG -}}
{{- if and .Values.dynamicMig.destroyUnknownDevices (not .Values.dynamicMig.enabled) (not $gate) -}}
{{- fail "dynamicMig.destroyUnknownDevices needs dynamicMig.enabled." -}}
{{- end -}}
{{- if and .Values.dynamicMig.enabled (hasKey .Values.featureGates "DynamicMIG") (not $gate) -}}
{{- fail "featureGates.DynamicMIG is false and dynamicMig.enabled true: they contradict each other." -}}
{{- end -}}
{{- $classes := .Values.deviceClasses -}}
{{- if and (eq (toString $classes.extendedResource.enabled) "true") (not $classes.create) -}}
{{- fail "deviceClasses.extendedResource.enabled needs deviceClasses.create: set extendedResourceName in your own DeviceClass instead." -}}
{{- end -}}
{{- end }}

{{- define "nvidia.extendedResource" -}}
{{- $extended := .Values.deviceClasses.extendedResource -}}
{{- $isDefault := semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version -}}
{{- if or (eq (toString $extended.enabled) "true") (and (eq (toString $extended.enabled) "auto") $isDefault) -}}
{{ $extended.name }}
{{- end -}}
{{- end }}

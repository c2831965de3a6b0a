{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{- define "example.driver" -}}
{{ .Values.driverName | default (printf "%s.example.com" .Values.deviceProfile) }}
{{- end }}

{{/* YAML of the dict that the library's templates take, without its root. */}}
{{- define "example.parts" -}}
driver: {{ include "example.driver" . }}
name: plugin
command: /usr/bin/dra-example-kubeletplugin
affinity: {{ with .Values.kubeletPlugin.affinity }}{{ toYaml . | quote }}{{ else }}""{{ end }}
env: |
  {{- include "example.env" . | nindent 2 }}
parts: {{ include "example.rights" . | fromYamlArray | toJson }}
{{- end }}

{{/* Only the options that this profile uses. */}}
{{- define "example.env" -}}
- {name: DEVICE_PROFILE, value: {{ .Values.deviceProfile }}}
{{- if ne .Values.deviceProfile "cpu" }}
- {name: NUM_DEVICES, value: {{ .Values.kubeletPlugin.numDevices | quote }}}
{{- end }}
{{- if eq .Values.deviceProfile "gpu" }}
- {name: GPU_PARTITIONS, value: {{ .Values.kubeletPlugin.gpuPartitions | quote }}}
- {name: GPU_DEVICE_STATUS, value: {{ .Values.gpuDeviceStatus | quote }}}
- {name: GPU_DEVICE_METADATA, value: {{ .Values.gpuDeviceMetadata | quote }}}
- {name: GPU_ALLOW_MULTIPLE_ALLOCATIONS, value: {{ .Values.gpuAllowMultipleAllocations | quote }}}
{{- end }}
{{- if eq .Values.deviceProfile "net" }}
- {name: NET_DEVICE_STATUS, value: {{ .Values.netDeviceStatus | quote }}}
{{- end }}
{{- if eq .Values.deviceProfile "cpu" }}
- {name: CPU_NUMA_NODES, value: {{ .Values.kubeletPlugin.cpu.numaNodes | quote }}}
- {name: CPUS_PER_NUMA_NODE, value: {{ .Values.kubeletPlugin.cpu.cpusPerNUMANode | quote }}}
{{- end }}
{{- if and (eq .Values.deviceProfile "gpu") .Values.controller.enabled }}
- {name: FABRIC_DEVICES, value: {{ .Values.controller.fabricDevices | quote }}}
{{- end }}
- {name: BINDING_CONDITIONS, value: {{ .Values.kubeletPlugin.bindingConditions | quote }}}
{{- end }}

{{/* The parts of the driver that need their own rights. */}}
{{- define "example.rights" -}}
- always
{{- if .Values.rbac.events }}
- events
{{- end }}
{{- if .Values.kubeletPlugin.bindingConditions }}
- binding
{{- end }}
{{- $gpus := and (eq .Values.deviceProfile "gpu") .Values.gpuDeviceStatus }}
{{- $nics := and (eq .Values.deviceProfile "net") .Values.netDeviceStatus }}
{{- if or $gpus $nics .Values.kubeletPlugin.bindingConditions }}
- status
{{- end }}
{{- end }}

{{/* Values that have no effect with this profile. */}}
{{- define "example.validate" -}}
{{- include "dra4j.validate" . -}}
{{- $gpus := or .Values.gpuDeviceStatus .Values.gpuDeviceMetadata .Values.gpuAllowMultipleAllocations (gt (int .Values.kubeletPlugin.gpuPartitions) 0) -}}
{{- if and $gpus (ne .Values.deviceProfile "gpu") -}}
{{- fail (printf "gpuDeviceStatus, gpuDeviceMetadata, gpuAllowMultipleAllocations and kubeletPlugin.gpuPartitions need deviceProfile gpu, not %s." .Values.deviceProfile) -}}
{{- end -}}
{{- if and .Values.controller.enabled (ne .Values.deviceProfile "gpu") -}}
{{- fail (printf "controller.enabled needs deviceProfile gpu, not %s." .Values.deviceProfile) -}}
{{- end -}}
{{- if and .Values.netDeviceStatus (ne .Values.deviceProfile "net") -}}
{{- fail (printf "netDeviceStatus needs deviceProfile net, not %s." .Values.deviceProfile) -}}
{{- end -}}
{{- if and .Values.deviceClass.extendedResourceName (not .Values.deviceClass.create) -}}
{{- fail "deviceClass.extendedResourceName needs deviceClass.create: set extendedResourceName in your own DeviceClass instead." -}}
{{- end -}}
{{- end }}

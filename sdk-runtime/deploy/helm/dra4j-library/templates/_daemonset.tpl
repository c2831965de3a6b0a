{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/*
The DaemonSet of a driver. Takes a dict:
  root        the scope of the driver's chart
  driver      the driver's name
  name        the container, and its key in kubeletPlugin.containers
  command     the driver's program
  env         YAML: variables in addition to those of all drivers
  mounts      YAML: volumeMounts in addition to those of all drivers
  volumes     YAML: volumes in addition to those of all drivers
  affinity    YAML: the affinity
  hostPID     whether the driver sees the processes of the node
  propagation of mounts in the driver's directory, None by default
  daemonSet   the name of the DaemonSet, that of the other objects by default
  podLabels   labels of its pods in addition to those of all objects
*/}}
{{- define "dra4j.daemonset" -}}
{{- $root := .root -}}
{{- $plugin := $root.Values.kubeletPlugin -}}
{{- $own := printf "%s/%s" $plugin.kubeletPluginsDirectoryPath .driver -}}
{{- $metadata := include "dra4j.metadata" $root | fromYaml -}}
apiVersion: apps/v1
kind: DaemonSet
metadata: {{- toYaml (merge (dict "name" (.daemonSet | default $metadata.name)) $metadata) | nindent 2 }}
spec:
  selector:
    matchLabels: {{- include "dra4j.selectorLabels" $root | nindent 6 }}
  updateStrategy: {{- toYaml $plugin.updateStrategy | nindent 4 }}
  template:
    metadata:
      labels: {{- toYaml (merge (include "dra4j.labels" $root | fromYaml) (.podLabels | default dict)) | nindent 8 }}
      annotations: {{- merge (dict) ($plugin.podAnnotations | default dict) (dict "kubectl.kubernetes.io/default-container" .name) | toYaml | nindent 8 }}
    spec:
      serviceAccountName: {{ include "dra4j.serviceAccount" $root }}
      {{- with $plugin.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      terminationGracePeriodSeconds: 30
      {{- if .hostPID }}
      hostPID: true
      {{- end }}
      # A Service called metrics would set METRICS_PORT.
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- $given := $plugin.podSecurityContext | default dict }}
      {{- $security := merge (deepCopy $given) (dict "seLinuxOptions" (dict "type" "spc_t")) }}
      {{- if and (hasKey $given "seLinuxOptions") (empty $given.seLinuxOptions) }}
      {{- $security = omit $security "seLinuxOptions" }}
      {{- end }}
      # The type that may use the kubelet's directories where SELinux is enforced; elsewhere it has no effect.
      securityContext: {{- toYaml $security | nindent 8 }}
      {{- with $plugin.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .affinity }}
      affinity: {{- . | trim | nindent 8 }}
      {{- end }}
      {{- with $plugin.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          {{- include "dra4j.container" . | include "dra4j.checkedEnv" | nindent 10 }}
          volumeMounts:
            # The driver passes these paths to the kubelet, so they are the same on the node and in the container.
            - {name: plugin, mountPath: {{ $own | quote }}{{ with .propagation }}, mountPropagation: {{ . }}{{ end }}}
            - {name: registry, mountPath: {{ $plugin.kubeletRegistrarDirectoryPath | quote }}}
            - {name: cdi, mountPath: {{ $root.Values.cdiRoot | quote }}}
            - {name: tmp, mountPath: /tmp}
            {{- if $root.Values.devicePolicy }}
            - {name: device-policy, mountPath: /etc/dra4j, readOnly: true}
            {{- end }}
            {{- with .mounts }}
            {{- . | trim | nindent 12 }}
            {{- end }}
      volumes:
        - name: plugin
          hostPath: {path: {{ $own | quote }}, type: DirectoryOrCreate}
        - name: registry
          hostPath: {path: {{ $plugin.kubeletRegistrarDirectoryPath | quote }}, type: DirectoryOrCreate}
        - name: cdi
          hostPath: {path: {{ $root.Values.cdiRoot | quote }}, type: DirectoryOrCreate}
        # Native libraries in jars are unpacked here.
        - name: tmp
          emptyDir: {sizeLimit: 64Mi}
        {{- if $root.Values.devicePolicy }}
        - name: device-policy
          configMap: {name: {{ include "dra4j.devicePolicyName" $root }}}
        {{- end }}
        {{- with .volumes }}
        {{- . | trim | nindent 8 }}
        {{- end }}
{{- end }}

{{/* The driver's container, except its name and mounts. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.container" -}}
{{- $root := .root -}}
{{- $plugin := $root.Values.kubeletPlugin -}}
{{- $container := index $plugin.containers .name -}}
image: {{ include "dra4j.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: [{{ .command | quote }}]
args: ["-v", {{ $root.Values.logVerbosity | quote }}]
env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  # Two pods of a node run side by side during an update, so the names of their sockets contain it.
  - name: POD_UID
    valueFrom: {fieldRef: {fieldPath: metadata.uid}}
  - {name: DRIVER_NAME, value: {{ .driver | quote }}}
  - {name: CDI_ROOT, value: {{ $root.Values.cdiRoot | quote }}}
  - {name: KUBELET_PLUGINS_DIRECTORY_PATH, value: {{ $plugin.kubeletPluginsDirectoryPath | quote }}}
  - {name: KUBELET_REGISTRAR_DIRECTORY_PATH, value: {{ $plugin.kubeletRegistrarDirectoryPath | quote }}}
  - {name: LOGGING_FORMAT, value: {{ $root.Values.loggingFormat | quote }}}
  {{- if $root.Values.devicePolicy }}
  - {name: DEVICE_POLICY, value: /etc/dra4j/device-policy.yaml}
  {{- end }}
  {{- if gt (int $container.healthcheckPort) 0 }}
  - {name: HEALTHCHECK_PORT, value: {{ $container.healthcheckPort | quote }}}
  {{- end }}
  {{- if gt (int $container.metricsPort) 0 }}
  - {name: HTTP_ENDPOINT, value: {{ printf ":%d" (int $container.metricsPort) | quote }}}
  {{- end }}
  {{- with .env }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- with $container.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or (gt (int $container.healthcheckPort) 0) (gt (int $container.metricsPort) 0) }}
ports:
  {{- if gt (int $container.metricsPort) 0 }}
  - {name: metrics, containerPort: {{ $container.metricsPort }}}
  {{- end }}
  {{- if gt (int $container.healthcheckPort) 0 }}
  - {name: healthcheck, containerPort: {{ $container.healthcheckPort }}}
  {{- end }}
{{- end }}
{{- if gt (int $container.metricsPort) 0 }}
# The probe is answered when the driver is ready, or a few seconds after it has started: each failed probe is a Warning Event.
startupProbe:
  httpGet: {path: /startupz, port: metrics}
  initialDelaySeconds: 2
  periodSeconds: 1
  timeoutSeconds: 20
  failureThreshold: 300 # each takes 1 s until the program listens, and some 10 s from then on
{{- else if gt (int $container.healthcheckPort) 0 }}
startupProbe:
  grpc: {port: {{ $container.healthcheckPort }}, service: liveness}
  initialDelaySeconds: 2
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 300
{{- end }}
{{- if gt (int $container.healthcheckPort) 0 }}
livenessProbe:
  grpc: {port: {{ $container.healthcheckPort }}, service: liveness}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
{{- end }}
{{- if gt (int $container.metricsPort) 0 }}
# Ready: registered with the kubelet, and all devices published. Only then does an update continue.
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
securityContext: {{- toYaml $container.securityContext | nindent 2 }}
{{- with $container.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

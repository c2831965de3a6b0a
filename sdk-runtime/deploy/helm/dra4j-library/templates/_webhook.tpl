{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The validating webhook: the driver's program as a server of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.webhook" -}}
{{- if .root.Values.webhook.enabled }}
{{- include "dra4j.webhookCheck" .root }}
{{- include "dra4j.webhookServer" . }}
---
{{- include "dra4j.webhookCertificate" .root }}
{{- include "dra4j.webhookConfiguration" . }}
{{- end }}
{{- end }}

{{- define "dra4j.webhookName" -}}
{{ include "dra4j.fullname" . }}-webhook
{{- end }}

{{/* Labels other than those of the driver's pods, which the DaemonSet, the PodMonitor and the NetworkPolicy select. */}}
{{- define "dra4j.webhookSelectorLabels" -}}
app.kubernetes.io/name: {{ include "dra4j.name" . }}-webhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dra4j.webhookLabels" -}}
{{- merge (include "dra4j.webhookSelectorLabels" . | fromYaml) (include "dra4j.labels" . | fromYaml) | toYaml -}}
{{- end }}

{{- define "dra4j.webhookMetadata" -}}
name: {{ include "dra4j.webhookName" . }}
namespace: {{ include "dra4j.namespace" . }}
labels: {{- include "dra4j.webhookLabels" . | nindent 2 }}
{{- end }}

{{- define "dra4j.webhookSecret" -}}
{{- if eq .Values.webhook.tls.mode "secret" -}}
{{ .Values.webhook.tls.secret.name }}
{{- else -}}
{{ include "dra4j.webhookName" . }}-tls
{{- end -}}
{{- end }}

{{/* Stops the rendering if the API server could not call the webhook. */}}
{{- define "dra4j.webhookCheck" -}}
{{- $tls := .Values.webhook.tls -}}
{{- if eq $tls.mode "secret" -}}
{{- if not $tls.secret.name -}}
{{- fail "webhook.tls.mode is secret: set webhook.tls.secret.name, a Secret with tls.crt and tls.key, or use the mode cert-manager." -}}
{{- end -}}
{{- if not (contains "-----BEGIN CERTIFICATE-----" (b64dec $tls.secret.caBundle)) -}}
{{- fail "webhook.tls.mode is secret: set webhook.tls.secret.caBundle to the certificates of the issuers, PEM in Base64 (base64 -w0 ca.crt)." -}}
{{- end -}}
{{- else -}}
{{- if or $tls.secret.name $tls.secret.caBundle -}}
{{- fail "webhook.tls.secret needs webhook.tls.mode secret; with cert-manager, its values would have no effect." -}}
{{- end -}}
{{- $isOwn := eq $tls.certManager.issuerType "selfsigned" -}}
{{- if and $isOwn $tls.certManager.issuerName -}}
{{- fail "webhook.tls.certManager.issuerName needs the issuerType issuer or clusterissuer; for selfsigned, the chart creates the issuer." -}}
{{- end -}}
{{- if not (or $isOwn $tls.certManager.issuerName) -}}
{{- fail (printf "webhook.tls.certManager.issuerType is %s: set webhook.tls.certManager.issuerName to its name." $tls.certManager.issuerType) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "dra4j.webhookServer" -}}
{{- $root := .root -}}
{{- $webhook := $root.Values.webhook -}}
# It reads nothing from the API server: no rights, no token.
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "dra4j.webhookMetadata" $root | nindent 2 }}
automountServiceAccountToken: false
---
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "dra4j.webhookMetadata" $root | nindent 2 }}
spec:
  replicas: {{ $webhook.replicas }}
  selector:
    matchLabels: {{- include "dra4j.webhookSelectorLabels" $root | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      labels: {{- include "dra4j.webhookLabels" $root | nindent 8 }}
      {{- with $webhook.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec: {{- include "dra4j.webhookPod" . | nindent 6 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "dra4j.webhookMetadata" $root | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "dra4j.webhookSelectorLabels" $root | nindent 6 }}
---
apiVersion: v1
kind: Service
metadata: {{- include "dra4j.webhookMetadata" $root | nindent 2 }}
spec:
  selector: {{- include "dra4j.webhookSelectorLabels" $root | nindent 4 }}
  ports:
    - {name: https, port: 443, targetPort: https}
{{- if $root.Values.networkPolicy.enabled }}
---
# Calls of the API server and probes come from nodes, whose addresses a policy can't select.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.webhookMetadata" $root | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- include "dra4j.webhookSelectorLabels" $root | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{protocol: TCP, port: https}]
  egress: []
{{- end }}
{{- end }}

{{/* The pod's spec. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.webhookPod" -}}
{{- $root := .root -}}
{{- $webhook := $root.Values.webhook -}}
serviceAccountName: {{ include "dra4j.webhookName" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $webhook.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $webhook.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $webhook.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $webhook.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "dra4j.webhookSelectorLabels" $root | nindent 8 }}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
  {{- /* OpenShift chooses the user and group IDs of each namespace, and refuses others. */}}
  {{- if not (include "dra4j.isOpenShift" $root) }}
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- end }}
containers:
  - name: webhook
    {{- include "dra4j.webhookContainer" . | include "dra4j.checkedEnv" | nindent 4 }}
volumes:
  - name: certificate
    secret: {secretName: {{ include "dra4j.webhookSecret" $root | quote }}, defaultMode: 0440}
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{/* The container, except its name: the driver's program, with the driver's settings, which decide what can be prepared. */}}
{{- define "dra4j.webhookContainer" -}}
{{- $root := .root -}}
{{- $webhook := $root.Values.webhook -}}
image: {{ include "dra4j.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: [{{ .command | quote }}]
args: [webhook, "-v", {{ $root.Values.logVerbosity | quote }}]
env:
  - {name: DRIVER_NAME, value: {{ .driver | quote }}}
  - {name: LOGGING_FORMAT, value: {{ $root.Values.loggingFormat | quote }}}
  - {name: TLS_CERT_FILE, value: /etc/webhook/tls.crt}
  - {name: TLS_PRIVATE_KEY_FILE, value: /etc/webhook/tls.key}
  - {name: PORT, value: {{ $webhook.containerPort | quote }}}
  {{- with $webhook.refuseExtendedResources.names }}
  - {name: REFUSE_EXTENDED_RESOURCES, value: {{ join "," . | quote }}}
  {{- end }}
  {{- with .env }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- with (index $root.Values.kubeletPlugin.containers .name).env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - {name: https, containerPort: {{ $webhook.containerPort }}}
startupProbe:
  httpGet: {path: /healthz, port: https, scheme: HTTPS}
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: https, scheme: HTTPS}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: https, scheme: HTTPS}
  periodSeconds: 5
  timeoutSeconds: 5
# The API server may still call a pod that is about to stop.
lifecycle:
  preStop:
    sleep: {seconds: 5}
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with $webhook.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - {name: certificate, mountPath: /etc/webhook, readOnly: true}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{/*
The certificate, by cert-manager. The chart's own issuer is an authority with a certificate of ten years: with a
self-signed server certificate, the API server would refuse replicas that have not read a renewed one yet. Takes the root.
*/}}
{{- define "dra4j.webhookCertificate" -}}
{{- $manager := .Values.webhook.tls.certManager -}}
{{- $name := include "dra4j.webhookName" . -}}
{{- $host := printf "%s.%s.svc" $name (include "dra4j.namespace" .) -}}
{{- if eq .Values.webhook.tls.mode "cert-manager" }}
{{- if eq $manager.issuerType "selfsigned" }}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {{- include "dra4j.webhookPart" (list . "selfsigned") | nindent 2 }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {{- include "dra4j.webhookPart" (list . "ca") | nindent 2 }}
spec:
  isCA: true
  commonName: dra4j-webhook-ca
  secretName: {{ $name }}-ca
  duration: 87600h
  issuerRef: {group: cert-manager.io, kind: Issuer, name: {{ $name }}-selfsigned}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {{- include "dra4j.webhookPart" (list . "ca") | nindent 2 }}
spec:
  ca: {secretName: {{ $name }}-ca}
---
{{- end }}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {{- include "dra4j.webhookMetadata" . | nindent 2 }}
spec:
  secretName: {{ include "dra4j.webhookSecret" . }}
  dnsNames: {{- concat (list $host (printf "%s.cluster.local" $host)) $manager.dnsNames | toYaml | nindent 4 }}
  usages: [digital signature, key encipherment, server auth]
  privateKey: {rotationPolicy: Always}
  issuerRef:
    group: cert-manager.io
    kind: {{ ternary "ClusterIssuer" "Issuer" (eq $manager.issuerType "clusterissuer") }}
    name: {{ $manager.issuerName | default (printf "%s-ca" $name) }}
---
{{- end }}
{{- end }}

{{/* The metadata of an object of the webhook with its own name. Takes the root and the end of that name. */}}
{{- define "dra4j.webhookPart" -}}
name: {{ include "dra4j.webhookName" (first .) }}-{{ last . }}
namespace: {{ include "dra4j.namespace" (first .) }}
labels: {{- include "dra4j.webhookLabels" (first .) | nindent 2 }}
{{- end }}

{{/* Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.webhookConfiguration" -}}
{{- $root := .root -}}
{{- $webhook := $root.Values.webhook }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ include "dra4j.webhookName" $root }}
  labels: {{- include "dra4j.webhookLabels" $root | nindent 4 }}
  {{- if eq $webhook.tls.mode "cert-manager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ include "dra4j.namespace" $root }}/{{ include "dra4j.webhookName" $root }}
  {{- end }}
webhooks:
  - name: claims.{{ .driver }}
    rules:
      - apiGroups: [resource.k8s.io]
        apiVersions: [v1, v1beta1, v1beta2]
        operations: [CREATE, UPDATE]
        resources: [resourceclaims, resourceclaimtemplates]
        scope: Namespaced
    clientConfig: {{- include "dra4j.webhookClient" (list $root "/validate-resource-claim-parameters") | nindent 6 }}
    {{- with $webhook.namespaceSelector }}
    namespaceSelector: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- include "dra4j.webhookCall" $root | nindent 4 }}
  {{- with $webhook.refuseExtendedResources }}
  {{- if .names }}
  - name: pods.{{ $.driver }}
    rules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [pods]
        scope: Namespaced
    clientConfig: {{- include "dra4j.webhookClient" (list $root "/validate-pods") | nindent 6 }}
    namespaceSelector: {{- toYaml .namespaceSelector | nindent 6 }}
    {{- include "dra4j.webhookCall" $root | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}

{{/* How the API server reaches the webhook. Takes the root and a path. */}}
{{- define "dra4j.webhookClient" -}}
{{- $root := first . -}}
service:
  name: {{ include "dra4j.webhookName" $root }}
  namespace: {{ include "dra4j.namespace" $root }}
  path: {{ last . }}
  port: 443
{{- if eq $root.Values.webhook.tls.mode "secret" }}
caBundle: {{ $root.Values.webhook.tls.secret.caBundle | nospace }}
{{- end }}
{{- end }}

{{/* How the API server calls it. Takes the root. */}}
{{- define "dra4j.webhookCall" -}}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
failurePolicy: {{ .Values.webhook.failurePolicy }}
timeoutSeconds: {{ .Values.webhook.timeoutSeconds }}
{{- end }}

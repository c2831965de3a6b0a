{{/*
Copyright The dra4j Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* The validating webhook: the driver's program as a server of the cluster. Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.webhook" -}}
{{- $webhook := .root.Values.webhook -}}
{{- if $webhook.enabled }}
{{- include "dra4j.webhookCheck" .root }}
{{- $own := dict "part" "webhook" "process" "webhook" "values" $webhook "replicas" $webhook.replicas "port" "https" "noToken" true }}
{{- $part := merge $own . }}
{{- $part = merge $part (include "dra4j.webhookParts" $part | fromYaml) }}
{{- include "dra4j.webhookServer" $part }}
---
{{- include "dra4j.webhookCertificate" $part }}
{{- include "dra4j.webhookConfiguration" $part }}
{{- end }}
{{- end }}

{{- define "dra4j.webhookSecret" -}}
{{- $tls := .root.Values.webhook.tls -}}
{{ eq $tls.mode "secret" | ternary $tls.secret.name (printf "%s-tls" (include "dra4j.partName" .)) }}
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

{{/* Its own parts of the pod: with the driver's settings, which decide what can be prepared. Takes the dict of dra4j.partName. */}}
{{- define "dra4j.webhookParts" -}}
{{- $webhook := .root.Values.webhook -}}
variables: |
  - {name: TLS_CERT_FILE, value: /etc/webhook/tls.crt}
  - {name: TLS_PRIVATE_KEY_FILE, value: /etc/webhook/tls.key}
  - {name: PORT, value: {{ $webhook.containerPort | quote }}}
  {{- with $webhook.refuseExtendedResources.names }}
  - {name: REFUSE_EXTENDED_RESOURCES, value: {{ join "," . | quote }}}
  {{- end }}
  {{- with .env }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- with (index .root.Values.kubeletPlugin.containers .name).env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
fields: |
  # The API server may still call a pod that is about to stop.
  lifecycle:
    preStop:
      sleep: {seconds: 5}
partMounts: |
  - {name: certificate, mountPath: /etc/webhook, readOnly: true}
partVolumes: |
  - name: certificate
    secret: {secretName: {{ include "dra4j.webhookSecret" . | quote }}, defaultMode: 0440}
{{- end }}

{{- define "dra4j.webhookServer" -}}
# It reads nothing from the API server: no rights, no token.
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
automountServiceAccountToken: false
---
{{- include "dra4j.partDeployment" . }}
---
{{- include "dra4j.partDisruptionBudget" . }}
---
apiVersion: v1
kind: Service
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
spec:
  selector: {{- include "dra4j.partSelectorLabels" . | nindent 4 }}
  ports:
    - {name: https, port: 443, targetPort: https}
{{- if .root.Values.networkPolicy.enabled }}
---
# Calls of the API server and probes come from nodes, whose addresses a policy can't select.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- include "dra4j.partSelectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{protocol: TCP, port: https}]
  egress: []
{{- end }}
{{- end }}

{{/*
The certificate, by cert-manager. The chart's own issuer is an authority with a certificate of ten years: with a
self-signed server certificate, the API server would refuse replicas that have not read a renewed one yet. Takes the dict of dra4j.partName.
*/}}
{{- define "dra4j.webhookCertificate" -}}
{{- $manager := .root.Values.webhook.tls.certManager -}}
{{- $name := include "dra4j.partName" . -}}
{{- $host := printf "%s.%s.svc" $name (include "dra4j.namespace" .root) -}}
{{- if eq .root.Values.webhook.tls.mode "cert-manager" }}
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
metadata: {{- include "dra4j.partMetadata" . | nindent 2 }}
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

{{/* The metadata of an object of the webhook with its own name. Takes the dict of dra4j.partName and the end of that name. */}}
{{- define "dra4j.webhookPart" -}}
name: {{ include "dra4j.partName" (first .) }}-{{ last . }}
namespace: {{ include "dra4j.namespace" (first .).root }}
labels: {{- include "dra4j.partLabels" (first .) | nindent 2 }}
{{- end }}

{{/* Takes the dict of dra4j.daemonset. */}}
{{- define "dra4j.webhookConfiguration" -}}
{{- $root := .root -}}
{{- $webhook := $root.Values.webhook }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  {{- include "dra4j.partClusterMetadata" . | nindent 2 }}
  {{- if eq $webhook.tls.mode "cert-manager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ include "dra4j.namespace" $root }}/{{ include "dra4j.partName" . }}
  {{- end }}
webhooks:
  # A name of three labels, even if the driver's has only one.
  - name: claims.{{ .driver }}.dra4j.io
    rules:
      - apiGroups: [resource.k8s.io]
        apiVersions: [v1, v1beta1, v1beta2]
        operations: [CREATE, UPDATE]
        resources: [resourceclaims, resourceclaimtemplates]
        scope: Namespaced
    clientConfig: {{- include "dra4j.webhookClient" (list $ "/validate-resource-claim-parameters") | nindent 6 }}
    {{- with $webhook.namespaceSelector }}
    namespaceSelector: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- include "dra4j.webhookCall" $root | nindent 4 }}
  {{- with $webhook.refuseExtendedResources }}
  {{- if .names }}
  - name: pods.{{ $.driver }}.dra4j.io
    rules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [pods]
        scope: Namespaced
    clientConfig: {{- include "dra4j.webhookClient" (list $ "/validate-pods") | nindent 6 }}
    namespaceSelector: {{- toYaml .namespaceSelector | nindent 6 }}
    {{- include "dra4j.webhookCall" $root | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}

{{/* How the API server reaches the webhook. Takes the dict of dra4j.partName and a path. */}}
{{- define "dra4j.webhookClient" -}}
{{- $root := (first .).root -}}
service:
  name: {{ include "dra4j.partName" (first .) }}
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

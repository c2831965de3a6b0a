// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules for the webhook in each driver's chart; a test of the driver extends this. */
public abstract class WebhookContract {

    private static final HelmChart CHART = ChartContract.CHART;
    private static final ChartInstallation ON = ChartInstallation.DEFAULT.set("webhook.enabled", true);
    private static final String CA =
            Base64.getEncoder().encodeToString("-----BEGIN CERTIFICATE-----\n".getBytes(StandardCharsets.US_ASCII));
    private static final ChartInstallation SECRET = ON.set("webhook.tls.mode", "secret")
            .set("webhook.tls.secret.name", "own")
            .set("webhook.tls.secret.caBundle", CA);

    /** Variables of the driver about its node, which the webhook does not have. */
    private static final Set<String> OF_THE_NODE = Set.of(
            "NODE_NAME",
            "POD_UID",
            "CDI_ROOT",
            "KUBELET_PLUGINS_DIRECTORY_PATH",
            "KUBELET_REGISTRAR_DIRECTORY_PATH",
            "HEALTHCHECK_PORT",
            "HTTP_ENDPOINT");

    private static JsonNode webhook(Manifests manifests, int index) {
        return manifests.one(Kind.ValidatingWebhookConfiguration).at("/webhooks/" + index);
    }

    @Test
    void claimsAndTemplatesOfAllVersionsAreChecked() {
        JsonNode webhook = webhook(CHART.render(ON), 0);

        assertThat(webhook.path("rules").toString())
                .isEqualTo("[{\"apiGroups\":[\"resource.k8s.io\"],"
                        + "\"apiVersions\":[\"v1\",\"v1beta1\",\"v1beta2\"],"
                        + "\"operations\":[\"CREATE\",\"UPDATE\"],"
                        + "\"resources\":[\"resourceclaims\",\"resourceclaimtemplates\"],"
                        + "\"scope\":\"Namespaced\"}]");
        assertThat(webhook.path("name").asText())
                .as("three labels, even if the driver's name has one")
                .endsWith(".dra4j.io");
        assertThat(webhook.path("sideEffects").asText()).isEqualTo("None");
        assertThat(webhook.path("failurePolicy").asText()).isEqualTo("Ignore");
        assertThat(webhook.path("matchPolicy").asText()).isEqualTo("Equivalent");
        assertThat(webhook.path("timeoutSeconds").asInt()).isEqualTo(5);
        assertThat(webhook.at("/clientConfig/service/path").asText()).isEqualTo("/validate-resource-claim-parameters");
        assertThat(webhook.at("/namespaceSelector/matchExpressions").toString())
                .isEqualTo("[{\"key\":\"kubernetes.io/metadata.name\",\"operator\":\"NotIn\","
                        + "\"values\":[\"kube-system\"]}]");
    }

    @Test
    void podsAreCheckedInLabelledNamespacesAlone() {
        assertThat(CHART.render(ON).one(Kind.ValidatingWebhookConfiguration).path("webhooks"))
                .hasSize(1);

        Manifests manifests = CHART.render(ON.file(Path.of("deploy/values/webhook.yaml")));
        JsonNode webhook = webhook(manifests, 1);

        assertThat(webhook.at("/rules/0/resources/0").asText()).isEqualTo("pods");
        assertThat(webhook.at("/clientConfig/service/path").asText()).isEqualTo("/validate-pods");
        assertThat(webhook.at("/namespaceSelector/matchExpressions/0/operator").asText())
                .isEqualTo("In");
        assertThat(webhook.path("failurePolicy").asText()).isEqualTo("Fail");
        assertThat(DriverContainer.ofDeployment(manifests).environment()).containsKey("REFUSE_EXTENDED_RESOURCES");
        for (String value : List.of("namespaceSelector", "namespaceSelector.matchExpressions")) {
            assertThatThrownBy(() -> CHART.render(ON.set("webhook.refuseExtendedResources." + value, "null")))
                    .hasMessageContaining("webhook/refuseExtendedResources");
        }
    }

    @Test
    void itsSelectorsAndTheDriversAreApart() {
        Manifests manifests = CHART.render(ON.file(Path.of("deploy/values/webhook.yaml")));
        JsonNode deployment = manifests.one(Kind.Deployment);
        JsonNode labels = deployment.at("/spec/template/metadata/labels");
        JsonNode service = manifests.one(Kind.Service);

        assertThat(Stream.of(
                        service.at("/spec/selector"),
                        deployment.at("/spec/selector/matchLabels"),
                        deployment.at("/spec/template/spec/topologySpreadConstraints/0/labelSelector/matchLabels"),
                        manifests.one(Kind.PodDisruptionBudget).at("/spec/selector/matchLabels")))
                .allSatisfy(selector ->
                        assertThat(Manifests.selects(selector, labels)).isTrue());
        JsonNode driver = manifests.one(Kind.DaemonSet);
        assertThat(Manifests.selects(driver.at("/spec/selector/matchLabels"), labels))
                .isFalse();
        assertThat(Manifests.selects(service.at("/spec/selector"), driver.at("/spec/template/metadata/labels")))
                .isFalse();
        assertThat(manifests.of(Kind.NetworkPolicy)).hasSize(2);
        assertThat(manifests.of(Kind.NetworkPolicy))
                .filteredOn(policy -> Manifests.selects(policy.at("/spec/podSelector/matchLabels"), labels))
                .singleElement()
                .satisfies(
                        policy -> assertThat(policy.at("/spec/ingress/0/ports").toString())
                                .isEqualTo("[{\"protocol\":\"TCP\",\"port\":\"https\"}]"));
    }

    @Test
    void theApiServerReachesIt() {
        Manifests manifests = CHART.render(ON);
        JsonNode service = manifests.one(Kind.Service);
        JsonNode target = webhook(manifests, 0).at("/clientConfig/service");
        DriverContainer container = DriverContainer.ofDeployment(manifests);

        assertThat(target.path("name")).isEqualTo(service.at("/metadata/name"));
        assertThat(target.path("namespace")).isEqualTo(service.at("/metadata/namespace"));
        assertThat(target.path("port")).isEqualTo(service.at("/spec/ports/0/port"));
        assertThat(service.at("/spec/ports/0/targetPort"))
                .isEqualTo(container.container().at("/ports/0/name"));
        assertThat(container.container().at("/ports/0/containerPort").asText())
                .isEqualTo(container.environment().get("PORT"));
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(container.container().at("/" + probe + "/httpGet/scheme").asText())
                    .isEqualTo("HTTPS");
        }
    }

    @Test
    void itHasTheSettingsOfTheDriver() {
        String container =
                DriverContainer.of(CHART.render(ON)).container().path("name").asText();
        String variable = "kubeletPlugin.containers." + container + ".env";
        Manifests manifests = CHART.render(ON.set(variable + "[0].name", "MORE")
                .set(variable + "[0].value", "some")
                .set(variable + "[1].name", "LOGGING_FORMAT")
                .set(variable + "[1].value", "json"));
        DriverContainer driver = DriverContainer.of(manifests);
        DriverContainer webhook = DriverContainer.ofDeployment(manifests);
        Map<String, String> settings = driver.environment();
        settings.keySet().removeAll(OF_THE_NODE);

        assertThat(settings).containsKeys("DRIVER_NAME", "MORE").containsEntry("LOGGING_FORMAT", "json");
        assertThat(webhook.environment()).containsAllEntriesOf(settings);
        assertThat(webhook.command()).isEqualTo(driver.command());
        assertThat(webhook.container().path("image"))
                .isEqualTo(driver.container().path("image"));
        assertThat(webhook.arguments()).containsExactly("webhook", "-v", "0");
    }

    @Test
    void itHasNoRightsInTheClusterOrOnTheNode() {
        Manifests manifests = CHART.render(ON);
        DriverContainer webhook = DriverContainer.ofDeployment(manifests);
        String account = webhook.pod().path("serviceAccountName").asText();

        assertThat(manifests.of(Kind.ServiceAccount))
                .filteredOn(one -> one.at("/metadata/name").asText().equals(account))
                .singleElement()
                .satisfies(one -> assertThat(
                                one.path("automountServiceAccountToken").asBoolean(true))
                        .isFalse());
        assertThat(manifests.serviceAccount()).doesNotEndWith("/" + account);
        assertThat(Stream.of(Kind.ClusterRoleBinding, Kind.RoleBinding).flatMap(kind -> manifests.of(kind).stream()))
                .isNotEmpty()
                .noneMatch(binding -> binding.path("subjects").toString().contains('"' + account + '"'));
        assertThat(webhook.pod().path("automountServiceAccountToken").asBoolean(true))
                .isFalse();
        assertThat(webhook.pod().at("/securityContext/seccompProfile/type").asText())
                .isEqualTo("RuntimeDefault");
        webhook.assertHasNoRightsOnTheNode();
    }

    /** The image is for Linux, and a cluster may also have nodes with Windows. */
    @Test
    void itsPodsAndAllOthersRunOnNodesWithLinux() {
        Manifests manifests =
                CHART.render(ON.set("claimMetrics.enabled", true).set("kubeletPlugin.nodeSelector.pool", "gpus"));

        assertThat(Stream.of(Kind.DaemonSet, Kind.Deployment).flatMap(kind -> manifests.of(kind).stream()))
                .hasSize(3)
                .allMatch(one -> one.at("/spec/template/spec/nodeSelector/kubernetes.io~1os")
                        .asText()
                        .equals("linux"));
        assertThat(DriverContainer.of(manifests).pod().path("nodeSelector")).hasSize(2);
    }

    @Test
    void openShiftChoosesTheUser() {
        JsonNode pod = DriverContainer.ofDeployment(CHART.render(ON)).pod();
        JsonNode there = DriverContainer.ofDeployment(CHART.render(ON.set("openshift.enabled", true)))
                .pod();

        assertThat(pod.at("/securityContext/runAsUser").asInt()).isPositive();
        assertThat(there.at("/securityContext/runAsUser").isMissingNode()).isTrue();
        assertThat(there.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
    }

    @Test
    void certManagerMakesTheCertificateThatThePodMounts() {
        Manifests manifests = CHART.render(ON);
        List<JsonNode> issuers = List.copyOf(manifests.of(Kind.Issuer));
        JsonNode authority = manifests.of(Kind.Certificate).get(0);
        JsonNode certificate = manifests.of(Kind.Certificate).get(1);

        assertThat(issuers).hasSize(2);
        assertThat(authority.at("/spec/isCA").asBoolean()).isTrue();
        assertThat(authority.at("/spec/issuerRef/name"))
                .isEqualTo(issuers.get(0).at("/metadata/name"));
        assertThat(issuers.get(1).at("/spec/ca/secretName")).isEqualTo(authority.at("/spec/secretName"));
        assertThat(certificate.at("/spec/issuerRef/name"))
                .isEqualTo(issuers.get(1).at("/metadata/name"));
        assertMounted(manifests, certificate.at("/spec/secretName").asText());
        JsonNode service = manifests.one(Kind.Service).path("metadata");
        assertThat(certificate.at("/spec/dnsNames/0").asText())
                .isEqualTo("%s.%s.svc"
                        .formatted(
                                service.path("name").asText(),
                                service.path("namespace").asText()));
        assertThat(injection(manifests))
                .isEqualTo(certificate.at("/metadata/namespace").asText()
                        + "/"
                        + certificate.at("/metadata/name").asText());
    }

    private static String injection(Manifests manifests) {
        return manifests
                .one(Kind.ValidatingWebhookConfiguration)
                .path("metadata")
                .path("annotations")
                .path("cert-manager.io/inject-ca-from")
                .asText();
    }

    private static void assertMounted(Manifests manifests, String secret) {
        DriverContainer webhook = DriverContainer.ofDeployment(manifests);
        String folder = webhook.mounts().get("certificate");

        assertThat(webhook.pod().at("/volumes/0/name").asText()).isEqualTo("certificate");
        assertThat(webhook.pod().at("/volumes/0/secret/secretName").asText()).isEqualTo(secret);
        assertThat(webhook.environment())
                .containsEntry("TLS_CERT_FILE", folder + "/tls.crt")
                .containsEntry("TLS_PRIVATE_KEY_FILE", folder + "/tls.key");
    }

    @Test
    void anIssuerOfTheClusterIsAskedForTheCertificateAlone() {
        Manifests manifests = CHART.render(ON.set("webhook.tls.certManager.issuerType", "clusterissuer")
                .set("webhook.tls.certManager.issuerName", "ours"));

        assertThat(manifests.of(Kind.Issuer)).isEmpty();
        assertThat(manifests.one(Kind.Certificate).at("/spec/issuerRef").toString())
                .contains("\"kind\":\"ClusterIssuer\"", "\"name\":\"ours\"");
    }

    @Test
    void aSecretNeedsNoCertManager() {
        String wrapped = CA.substring(0, 8) + '\n' + CA.substring(8) + '\n'; // as base64 does without -w0
        Manifests manifests = CHART.render(SECRET.set("webhook.tls.secret.caBundle", wrapped));

        assertThat(manifests.kinds()).doesNotContain("Issuer", "Certificate");
        assertMounted(manifests, "own");
        assertThat(webhook(manifests, 0).at("/clientConfig/caBundle").asText()).isEqualTo(CA);
        assertThat(injection(manifests)).isEmpty();
        assertThat(StrictDecoder.problems(manifests)).isEmpty();
    }

    @Test
    void oneSourceOfTheCertificateIsComplete() {
        Map<ChartInstallation, String> refused = Map.of(
                SECRET.set("webhook.tls.secret.name", ""), "set webhook.tls.secret.name",
                SECRET.set("webhook.tls.secret.caBundle", ""), "set webhook.tls.secret.caBundle",
                SECRET.set("webhook.tls.secret.caBundle", "nonsense"), "set webhook.tls.secret.caBundle",
                SECRET.set("webhook.tls.mode", "cert-manager"), "needs webhook.tls.mode secret",
                ON.set("webhook.tls.certManager.issuerName", "ours"), "needs the issuerType",
                ON.set("webhook.tls.certManager.issuerType", "issuer"), "issuerName to its name");

        assertThat(refused)
                .allSatisfy((installation, message) ->
                        assertThatThrownBy(() -> CHART.render(installation)).hasMessageContaining(message));
    }
}

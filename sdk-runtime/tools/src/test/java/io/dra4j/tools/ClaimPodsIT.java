// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.tools.MaintenanceView.ClaimPods;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The users of claims, as an API server has them. */
class ClaimPodsIT {

    @TempDir
    private Path folder;

    private static HeldClaim claim(EmbeddedApiServer api, String name, String annotations, String reservedFor) {
        ManifestObjects.putText("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {namespace: ml, name: %s, annotations: {%s}}
                spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
                status:
                  allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: p, device: d}]}}
                  reservedFor: [%s]
                """.formatted(name, annotations, reservedFor), api.store());
        String uid = api.store()
                .find("resourceclaims", "ml", name)
                .orElseThrow()
                .at("/metadata/uid")
                .asText();
        return HeldClaim.builder(new ClaimRef("ml", name, uid))
                .phase(HeldClaim.Phase.PREPARED)
                .build();
    }

    private static String pod(String name) {
        return "{resource: pods, name: %s, uid: %s}".formatted(name, name);
    }

    @ParameterizedTest
    @EnumSource(names = {"V1_37", "V1_38"})
    void areNamedByTheirKindAndBefore138ThoseOfExtendedResourcesAreNotEvicted(KubernetesVersion release)
            throws Exception {
        try (EmbeddedApiServer api =
                EmbeddedApiServer.builder().version(release).start()) {
            HeldClaim pods = claim(api, "pods", "", pod("a") + "," + pod("b"));
            String group = "{apiGroup: scheduling.k8s.io, resource: podgroups, name: gang, uid: g}";
            HeldClaim gang = claim(api, "gang", "", group + "," + pod("c"));
            HeldClaim free = claim(api, "free", "", "");
            String extended = "resource.kubernetes.io/extended-resource-claim: 'true'";
            HeldClaim limits = claim(api, "limits", extended, pod("d"));
            HeldClaim gone = HeldClaim.builder(new ClaimRef("ml", "free", "of-an-earlier-claim"))
                    .phase(HeldClaim.Phase.PREPARED)
                    .build();

            ClaimPods found = ClaimPods.of(
                    List.of(pods, gang, free, limits, gone),
                    api.writeKubeconfig(folder.resolve("kubeconfig")),
                    "gpu.example.com");

            assertThat(found.problem()).isEmpty();
            assertThat(found.of(pods.ref())).isEqualTo("pod a, b");
            assertThat(found.of(gang.ref())).isEqualTo("podgroups.scheduling.k8s.io gang; pod c");
            assertThat(found.of(free.ref())).isEqualTo("reserved for no pod");
            assertThat(found.of(gone.ref())).isEqualTo("its object is deleted");
            assertThat(found.notEvicted())
                    .isEqualTo(release == KubernetesVersion.V1_37 ? Map.of(limits.ref(), List.of("d")) : Map.of());
        }
    }
}

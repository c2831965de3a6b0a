// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.TestNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManifestsTest {

    private final Manifests manifests = Manifests.of("""
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRole
            metadata: {name: gpus}
            rules:
            - {apiGroups: [resource.k8s.io], resources: [resourceslices], verbs: [list, watch]}
            - {apiGroups: [resource.k8s.io], resources: [resourceclaims], verbs: [list]}
            - {apiGroups: [""], resources: [resourceslices], verbs: [list]}
            ---
            apiVersion: apps/v1
            kind: DaemonSet
            metadata: {name: gpus, namespace: dra}
            spec:
              template:
                spec:
                  serviceAccountName: driver
                  volumes: [{name: cdi, hostPath: {path: /var/run/cdi}}, {name: tmp, emptyDir: {}}]
                  containers:
                  - {name: other}
                  - name: driver
                    command: [/bin/driver, "--node=$(NODE_NAME)"]
                    args: ["--log=$(LOG)", $(NOT_SET)]
                    env:
                    - {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
                    - {name: DIR, value: /data}
                    - {name: LOG, value: $(DIR)/log}
                    - {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
                    volumeMounts: [{name: cdi, mountPath: /cdi}, {name: tmp, mountPath: /tmp}]
            """);

    private final DriverContainer container = DriverContainer.named(manifests, "driver");

    @Test
    void haveObjectsByKind() {
        assertThat(manifests.kinds()).containsExactly("ClusterRole", "DaemonSet");
        assertThat(manifests.one(Kind.DaemonSet)).isEqualTo(manifests.objects().get(1));
        assertThat(manifests.serviceAccount()).isEqualTo("dra/driver");
        assertThatThrownBy(() -> manifests.one(Kind.Issuer)).hasMessage("0 objects are of kind Issuer");
        assertThat(manifests.objects()).extracting(StrictDecoder::isNamespaced).containsExactly(false, true);
    }

    @Test
    void runAContainerAsTheKubeletDoes() {
        assertThat(container.command()).isEqualTo("/bin/driver");
        assertThat(container.arguments()).containsExactly("--log=$(LOG)", "$(NOT_SET)");
        assertThat(container.commandLine())
                .containsExactly("/bin/driver", "--node=" + TestNode.NAME, "--log=/data/log", "$(NOT_SET)");
        assertThat(container.environment())
                .isEqualTo(Map.of("NODE_NAME", "", "DIR", "/data", "LOG", "$(DIR)/log", "HOST_IP", ""));
        assertThat(container.onTestNode()).isEqualTo(Map.of("DIR", "/data", "LOG", "/data/log", "HOST_IP", ""));
        assertThat(container.hostPaths()).isEqualTo(Map.of("cdi", "/var/run/cdi"));
        assertThat(container.mounts()).isEqualTo(Map.of("cdi", "/cdi", "tmp", "/tmp"));
        assertThatThrownBy(container::assertHasNoRightsOnTheNode).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> DriverContainer.named(manifests, "sidecar")).hasMessageContaining("sidecar");
    }

    @Test
    void loseOneRight() {
        List<ObjectNode> roles = manifests.of(Kind.ClusterRole);
        Right right = new Right("resource.k8s.io", "resourceslices", "list", "", "always", false, "", "");

        assertThat(Right.granted(roles)).contains(right.toString()).hasSize(4);
        assertThat(right.removeFrom(roles)).isTrue();
        assertThat(Right.granted(roles))
                .containsExactly(
                        "resource.k8s.io/resourceslices watch",
                        "resource.k8s.io/resourceclaims list",
                        "/resourceslices list");
        assertThat(right.removeFrom(roles)).isFalse();
    }
}

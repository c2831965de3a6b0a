// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.kubectl.explain.Advice.DriverPods;
import io.dra4j.kubectl.explain.Advice.PluginUse;
import io.dra4j.kubectl.explain.PodEndings.PodName;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands for what is not the subject's: pods that hold devices, and drivers. */
class ObjectsOfOthersTest {

    private static final String REGISTRY = "/var/lib/kubelet/plugins_registry";

    @TempDir
    private Path folder;

    private EmbeddedApiServer server;
    private ObjectFinder objects;

    @BeforeEach
    void start() throws Exception {
        server = EmbeddedApiServer.builder().start();
        Path kubeconfig = folder.resolve("kubeconfig");
        server.writeKubeconfig(kubeconfig);
        objects = new ObjectFinder(ApiReader.connect(kubeconfig, null), "resource.k8s.io/v1", List.of());
    }

    @AfterEach
    void stop() {
        objects.api().close();
        server.close();
    }

    private void add(String metadata, String spec) throws Exception {
        ManifestObjects.putText(
                "apiVersion: v1\nkind: Pod\nmetadata: {%s}\nspec: {%s}\n".formatted(metadata, spec), server.store());
    }

    private void addPlugin(String name, String more) throws Exception {
        add(
                "name: %s, namespace: kube-system".formatted(name),
                "nodeName: n1, volumes: [{name: r, hostPath: {path: %s}}], containers: [{name: c, image: i, args: [%s]}]"
                        .formatted(REGISTRY, more));
    }

    @ParameterizedTest
    @CsvSource({
        "ReplicaSet, web-77f9, 'Deployment web owns it, `kubectl scale -n a deployment/web --replicas=0`'",
        "ReplicaSet, lone, 'ReplicaSet lone owns it, `kubectl scale -n a replicaset/lone --replicas=0`'",
        "StatefulSet, db, 'StatefulSet db owns it, `kubectl scale -n a statefulset/db --replicas=0`'",
        "Job, once, 'Job once owns it, `kubectl delete job -n a once`'",
        "DaemonSet, all, 'DaemonSet all owns it, which recreates it'",
    })
    void aPodIsEndedAtItsOwner(String kind, String owner, String way) throws Exception {
        add(
                "name: p, namespace: a, labels: {pod-template-hash: 77f9}, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u, controller: true}]"
                        .formatted(kind, owner),
                "containers: [{name: c, image: i}]");

        assertThat(new PodEndings(objects).of(List.of(new PodName("a", "p")))).isEqualTo(": " + way);
    }

    @Test
    void podsOfSeveralOwnersAreNamed() throws Exception {
        add("name: p, namespace: a", "containers: [{name: c, image: i}]");

        assertThat(new PodEndings(objects).of(List.of(new PodName("a", "p"), new PodName("a", "q"))))
                .isEqualTo(
                        ": nothing owns it, `kubectl delete pod -n a p` (pod p), it is already gone, and kube-controller-manager has to remove it from the claim (pod q)");
    }

    @Test
    void theDriversPodIsThatWhichNamesTheDriver() throws Exception {
        addPlugin("csi", "--csi");
        addPlugin("gpu", "--driver-name=gpu.example.com");

        assertThat(new DriverPods(objects).of("gpu.example.com", "n1"))
                .isEqualTo("The driver's pod on n1 is kube-system/gpu: `kubectl logs -n kube-system gpu`;"
                        + " `kubectl delete pod -n kube-system gpu` restarts it.");
        assertThat(new DriverPods(objects).of("nic.example.com", "n1"))
                .startsWith("The driver's pod on n1 is one of these")
                .contains("`kubectl logs -n kube-system csi`, `kubectl logs -n kube-system gpu`");
        assertThat(new DriverPods(objects).of("gpu.example.com", "n2")).startsWith("No pod on n2 mounts");
    }

    @Test
    void whatMayNotBeReadIsLeftOut() {
        server.close();

        assertThat(new PodEndings(objects).of(List.of(new PodName("a", "p"))))
                .isEqualTo(": scale down what owns it, or it comes back");
        assertThat(new DriverPods(objects).of("gpu.example.com", "n1")).isEmpty();
        assertThat(objects.names("resourceclaims", "a")).isEqualTo(Optional.empty());
        assertThat(new PluginUse(objects, new PodEndings(objects)).remedy("n1", Set.of("example.com/gpu")))
                .startsWith("Look at `kubectl describe node n1`");
    }
}

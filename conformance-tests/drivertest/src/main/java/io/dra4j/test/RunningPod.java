// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import java.time.Duration;
import java.util.List;

/**
 * A pod whose claims are prepared, as {@link RunningDriver#awaitRunning} finds it.
 *
 * <p>Its containers do not run, but what they would get is known. It shows the pod at one moment.
 */
public final class RunningPod {

    private final TestNode node;
    private final JsonNode pod;

    private RunningPod(TestNode node, JsonNode pod) {
        this.node = node;
        this.pod = pod;
    }

    static RunningPod await(TestNode node, String name, Duration limit) {
        String[] parts = parts(name);
        return new RunningPod(node, node.controllers().awaitRunning(parts[0], parts[1], limit));
    }

    /** Returns the namespace and the name. */
    static String[] parts(String name) {
        return name.contains("/") ? name.split("/", 2) : new String[] {"default", name};
    }

    /**
     * Returns what a container gets.
     *
     * @param name the name of a container, or of an init container
     * @return the changes that a container runtime makes for its devices
     */
    public ContainerView container(String name) {
        List<String> ids = node.controllers().cdiDevices(pod, name);
        return ContainerView.of(node.place().cdiDirectories(), ids);
    }

    /** {@return the devices of all its claims, as {@code pool/device}, in the order of the claims} */
    public List<String> devices() {
        return node.controllers().claims(pod).stream()
                .map(claim -> claim.at("/metadata/uid").asText())
                .flatMap(uid -> node.controllers().prepared(uid).stream())
                .map(device -> device.pool() + "/" + device.device())
                .toList();
    }

    /** {@return the pod's object as JSON text} */
    public String rawJson() {
        return pod.toString();
    }

    /** Deletes the pod, and waits until its claims are unprepared, except for those that other pods use. */
    public void delete() {
        JsonNode metadata = pod.path("metadata");
        node.api()
                .store()
                .delete(
                        "pods",
                        metadata.path("namespace").asText(),
                        metadata.path("name").asText());
        node.controllers().awaitReleased(pod, TestNode.TIMEOUT);
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.settings.ManifestFiles;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Manifests of claims or templates and of pods that use them, on a node with the driver. */
final class SharingManifests {

    private static final String FOLDER = "src/test/resources/io/dra4j/nvidia/sharing";
    private static final String NAMESPACE = ApiObjects.RESOURCE + "/namespaces/default/";

    private static final Map<String, String> COLLECTIONS = Map.of(
            "DeviceClass", ApiObjects.RESOURCE + "/deviceclasses",
            "ResourceClaim", NAMESPACE + "resourceclaims",
            "ResourceClaimTemplate", NAMESPACE + "resourceclaimtemplates",
            "Pod", "/api/v1/namespaces/default/pods");

    private static final Pattern OF_A_SHARE = Pattern.compile("(?<env>env (CUDA|NVIDIA_SHARE)_.*)"
            + "|deviceNodes .*\"path\":\"(?<node>/dev/nvidia(-caps/.*?|\\d+))\".*"
            + "|mounts .*\"containerPath\":\"(?<mount>.*?)\".*\"rw\".*");

    private final TestContext context;
    private final List<JsonNode> objects;
    private final Map<String, KubeletClaim> claims = new LinkedHashMap<>();

    private SharingManifests(TestContext context, List<JsonNode> objects) {
        this.context = context;
        this.objects = objects;
    }

    /** Returns the files with manifests and with the device classes. */
    static List<Path> files(String... names) {
        return Stream.concat(Stream.of("device-classes"), Stream.of(names))
                .map(SharingManifests::file)
                .toList();
    }

    private static Path file(String name) {
        return Path.of(FOLDER, name + ".yaml").toAbsolutePath();
    }

    /** Creates the objects of manifests, on a node whose claims have their shapes. */
    static SharingManifests apply(TestContext context, String... names) {
        List<JsonNode> objects = ManifestFiles.read(
                "the test", files(names).stream().map(Path::toString).toList());
        for (JsonNode object : objects) {
            String collection = COLLECTIONS.get(object.path("kind").asText());
            context.cluster().create(collection + "?fieldValidation=Strict", object);
        }
        return new SharingManifests(context, objects);
    }

    /** Returns the claims that were prepared. */
    List<KubeletClaim> claims() {
        return List.copyOf(claims.values());
    }

    /** Prepares the claims, and returns the edits of each container, by pod and container. */
    Map<String, List<String>> prepared() {
        Map<String, List<String>> edits = new LinkedHashMap<>();
        for (JsonNode pod : objects) {
            if (pod.path("kind").asText().equals("Pod")) {
                String name = pod.at("/metadata/name").asText();
                ClaimResult answer = context.calls().prepared(claim(pod));
                for (JsonNode container : pod.at("/spec/containers")) {
                    edits.put(
                            name + "/" + container.path("name").asText(),
                            edits(
                                    answer,
                                    container.at("/resources/claims/0/request").asText()));
                }
            }
        }
        return edits;
    }

    /** A pod has its own claim if it names a template. */
    private KubeletClaim claim(JsonNode pod) {
        JsonNode entry = pod.at("/spec/resourceClaims/0");
        String claim = entry.path("resourceClaimName").asText();
        return claim.isEmpty()
                ? claim(
                        pod.at("/metadata/name").asText() + "-claim",
                        "ResourceClaimTemplate "
                                + entry.path("resourceClaimTemplateName").asText())
                : claim(claim, "ResourceClaim " + claim);
    }

    private KubeletClaim claim(String name, String shape) {
        return claims.computeIfAbsent(name, any -> allocated(name, shape));
    }

    /** The scheduler's first fit: claims of a device that is shared get the same one. */
    private KubeletClaim allocated(String name, String shape) {
        PublishedDevice first = context.devices().usable().stream()
                .filter(device -> device.allotment().claim().equals(shape))
                .findFirst()
                .orElseThrow();
        return context.claims().create(context.claims().draft(name).request("any", first));
    }

    /**
     * The edits that containers with shares differ in: variables, nodes of GPUs and of their parts,
     * and mounts that can be written to.
     */
    private List<String> edits(ClaimResult answer, String request) {
        List<PreparedDevice> devices = answer.devices().stream()
                .filter(one -> request.isEmpty() || one.requests().contains(request))
                .toList();
        return context.cdi().edits(devices).stream()
                .map(OF_A_SHARE::matcher)
                .filter(Matcher::matches)
                .map(SharingManifests::edit)
                .sorted()
                .toList();
    }

    private static String edit(Matcher line) {
        return line.group("env") != null
                ? line.group("env")
                : line.group("node") != null ? "node " + line.group("node") : "mount " + line.group("mount");
    }
}

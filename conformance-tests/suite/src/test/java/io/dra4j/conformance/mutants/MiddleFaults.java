// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.stubs.dra.v1.Device;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourceResponse;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesResponse;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The faults that a real driver gets on the way between it and the suite. */
final class MiddleFaults {

    private static final Pattern COUNT = Pattern.compile("(\"resourceSliceCount\":\\s*)(\\d+)");

    private MiddleFaults() {}

    static void install(String id, Middle middle) {
        if (!answers(id, middle) && !specs(id, middle) && !requests(id, middle)) {
            throw new IllegalArgumentException("There is no fault " + id + " of a middleman");
        }
    }

    private static boolean answers(String id, Middle middle) {
        switch (id) {
            case "M-01" -> middle.info = info -> after(2000, info);
            case "M-03a" ->
                    middle.info = info -> info.toBuilder().setType("ResourcePlugin").build();
            case "M-05" ->
                    middle.info =
                            info -> {
                                List<String> versions =
                                        new java.util.ArrayList<>(info.getSupportedVersionsList());
                                Collections.swap(versions, 0, 1);
                                return info.toBuilder()
                                        .clearSupportedVersions()
                                        .addAllSupportedVersions(versions)
                                        .build();
                            };
            case "M-06" -> middle.info = info -> info.toBuilder().clearSupportedVersions().build();
            case "M-17" -> middle.prepared = (request, answer) -> withoutSecond(request, answer);
            case "M-18" ->
                    middle.prepared =
                            (request, answer) ->
                                    answer.toBuilder()
                                            .putClaims(
                                                    "00000000-0000-4000-8000-000000000000",
                                                    NodePrepareResourceResponse
                                                            .getDefaultInstance())
                                            .build();
            case "M-19" -> devices(middle, device -> device.setPoolName(""));
            case "M-21" -> middle.prepared = (request, answer) -> withoutRequests(answer);
            case "M-24" -> middle.prepared = new OnceOnly();
            case "M-39" -> devices(middle, Device.Builder::clearShareId);
            case "M-47b" -> middle.prepared = (request, answer) -> notEmpty(request, answer);
            case "M-56" ->
                    middle.unprepared =
                            answer -> NodeUnprepareResourcesResponse.getDefaultInstance();
            case "M-59a" -> devices(middle, device -> ids(device, "/[^=]*=", "="));
            case "M-59b" -> devices(middle, device -> ids(device, "$", "_\\$"));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean specs(String id, Middle middle) {
        CdiMirror mirror = middle.mirror;
        switch (id) {
            case "M-60" -> mirror.delay = 200;
            case "M-61a" -> mirror.change = spec -> changed(spec, MiddleFaults::withoutEdits);
            case "M-61b" -> mirror.change = spec -> changed(spec, tree -> tree.put("bogus", "yes"));
            case "M-62" ->
                    mirror.change =
                            spec ->
                                    changed(
                                            spec,
                                            tree -> {
                                                tree.put("cdiVersion", "0.3.0");
                                                tree.putObject("annotations")
                                                        .put("example.com/new", "yes");
                                            });
            case "M-63" -> mirror.put = MiddleFaults::inChunks;
            case "M-64" -> mirror.deletes = false;
            default -> {
                return false;
            }
        }
        mirror.active = true;
        return true;
    }

    private static boolean requests(String id, Middle middle) {
        switch (id) {
            case "M-71a" -> {
                middle.toApi = (path, body) -> counted(body, 1);
                middle.fromApi = line -> counted(line, -1);
            }
            case "M-99" ->
                    middle.beforeClaim = path -> new String[] {path[0], path[0], path[0], path[0]};
            case "M-131" ->
                    middle.toApi =
                            (path, body) ->
                                    path.matches(".*/resourceclaims/.*/status.*")
                                            ? body.replace("\"True\"", "\"False\"")
                                            : body;
            case "M-120" ->
                    middle.beforeClaim =
                            path ->
                                    new String[] {
                                        ApiClient.RESOURCE + "/resourceclaims", "/api/v1/pods"
                                    };
            default -> {
                return false;
            }
        }
        middle.relayApi = true;
        return true;
    }

    private static <T> T after(long millis, T answer) {
        Pauses.millis(millis);
        return answer;
    }

    private static String counted(String text, int more) {
        return COUNT.matcher(text)
                .replaceAll((MatchResult m) -> m.group(1) + (Integer.parseInt(m.group(2)) + more));
    }

    private static void devices(Middle middle, Consumer<Device.Builder> change) {
        middle.prepared =
                (request, answer) -> {
                    var changed = answer.toBuilder();
                    answer.getClaimsMap()
                            .forEach((uid, claim) -> changed.putClaims(uid, each(claim, change)));
                    return changed.build();
                };
    }

    private static NodePrepareResourceResponse each(
            NodePrepareResourceResponse claim, Consumer<Device.Builder> change) {
        var changed = claim.toBuilder();
        changed.getDevicesBuilderList().forEach(change);
        return changed.build();
    }

    private static void ids(Device.Builder device, String pattern, String replacement) {
        for (int at = 0; at < device.getCdiDeviceIdsCount(); at++) {
            device.setCdiDeviceIds(
                    at, device.getCdiDeviceIds(at).replaceFirst(pattern, replacement));
        }
    }

    private static NodePrepareResourcesResponse withoutSecond(
            NodePrepareResourcesRequest request, NodePrepareResourcesResponse answer) {
        return request.getClaimsCount() < 2
                ? answer
                : answer.toBuilder().removeClaims(request.getClaims(1).getUid()).build();
    }

    private static NodePrepareResourcesResponse withoutRequests(
            NodePrepareResourcesResponse answer) {
        var changed = answer.toBuilder();
        answer.getClaimsMap()
                .forEach(
                        (uid, claim) -> {
                            long requests =
                                    claim.getDevicesList().stream()
                                            .map(Device::getRequestNamesList)
                                            .distinct()
                                            .count();
                            if (requests > 1) {
                                changed.putClaims(
                                        uid, each(claim, Device.Builder::clearRequestNames));
                            }
                        });
        return changed.build();
    }

    private static NodePrepareResourcesResponse notEmpty(
            NodePrepareResourcesRequest request, NodePrepareResourcesResponse answer) {
        if (request.getClaimsCount() == 0) {
            throw Status.INVALID_ARGUMENT.withDescription("no claims").asRuntimeException();
        }
        return answer;
    }

    /** Says of a claim that was prepared that it is, and takes that for an error. */
    private static final class OnceOnly implements Middle.Prepared {
        private final Set<String> known = ConcurrentHashMap.newKeySet();

        @Override
        public NodePrepareResourcesResponse apply(
                NodePrepareResourcesRequest request, NodePrepareResourcesResponse answer) {
            var changed = answer.toBuilder();
            for (Map.Entry<String, NodePrepareResourceResponse> claim :
                    answer.getClaimsMap().entrySet()) {
                if (claim.getValue().getError().isEmpty() && !known.add(claim.getKey())) {
                    changed.putClaims(
                            claim.getKey(),
                            NodePrepareResourceResponse.newBuilder()
                                    .setError("The claim is already prepared")
                                    .build());
                }
            }
            return changed.build();
        }
    }

    private static String changed(String spec, Consumer<ObjectNode> change) {
        try {
            ObjectNode tree = (ObjectNode) Json.read(spec);
            change.accept(tree);
            return tree.toString();
        } catch (IOException e) {
            throw new IllegalStateException("The driver's spec is no JSON: " + spec, e);
        }
    }

    private static void withoutEdits(ObjectNode spec) {
        for (JsonNode device : spec.path("devices")) {
            ((ObjectNode) device).putObject("containerEdits");
        }
    }

    private static void inChunks(Path file, String content) throws IOException {
        Files.writeString(file, "");
        for (String part : Arrays.asList(content.split("(?<=\\},)"))) {
            Files.writeString(file, part, StandardOpenOption.APPEND);
            Pauses.millis(30);
        }
    }
}

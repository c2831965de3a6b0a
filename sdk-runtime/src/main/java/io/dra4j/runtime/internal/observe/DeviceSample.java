// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.util.List;
import java.util.Map;

/**
 * A device that a claim holds, as shown in a scrape.
 *
 * @param pods the pods that the claim was reserved for when it was prepared
 * @param request the request, or {@code request/subrequest}
 * @param share the id of a share; empty for a whole device
 * @param uuid the id by which other exporters name the device; empty if it has none
 * @param parentUuid the id of the hardware that it is a part of; empty if it is whole
 * @param values the device's own measurements
 * @param parentValues the measurements of the whole hardware that it is a part of
 */
public record DeviceSample(
        String namespace,
        String claim,
        String claimUid,
        List<String> pods,
        String request,
        String pool,
        String device,
        String share,
        String uuid,
        String parentUuid,
        Map<DeviceMetric, Double> values,
        Map<DeviceMetric, Double> parentValues) {

    public DeviceSample {
        pods = List.copyOf(pods);
        values = Map.copyOf(values);
        parentValues = Map.copyOf(parentValues);
    }

    /** Returns the only pod; empty if several share the claim, or none is known. */
    private String pod() {
        return pods.size() == 1 ? pods.get(0) : "";
    }

    /** Returns the values of {@link DeviceMetric#LABELS}. */
    List<String> labels(String scope) {
        return List.of(namespace, claim, pod(), request, pool, device, share, uuid, scope);
    }

    /** Returns the values of {@link DeviceMetric#INFO_LABELS}, for each pod. */
    List<List<String>> infoLabels() {
        List<String> each = pods.isEmpty() ? List.of("") : pods;
        return each.stream()
                .map(pod -> List.of(namespace, claim, claimUid, pod, request, pool, device, share, uuid, parentUuid))
                .toList();
    }
}

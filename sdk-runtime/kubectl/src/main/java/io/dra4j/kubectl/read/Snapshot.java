// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import io.dra4j.allocator.ClusterState;
import io.dra4j.rules.KubernetesVersion;
import java.util.List;
import java.util.Map;

/**
 * The devices, claims and nodes of a cluster when it was read.
 *
 * @param server the version that the server reports, such as {@code v1.36.2}
 * @param release the release whose rules are nearest to the server's
 * @param cluster classes, slices, claims and taint rules
 * @param nodes all nodes, by name
 * @param claims all claims, by namespace and name
 * @param written when each slice was written last, by its name
 * @param taintedSince when drivers tainted devices, by the device's name and the taint's key
 * @param classResources the extended resources of classes, by the name of the class
 * @param unread what could not be read, as sentences
 */
public record Snapshot(
        String server,
        KubernetesVersion release,
        ClusterState cluster,
        List<NodeInfo> nodes,
        Map<String, ClaimInfo> claims,
        Map<String, String> written,
        Map<String, String> taintedSince,
        List<ClassResource> classResources,
        List<String> unread) {

    /**
     * A class that offers its devices as an extended resource.
     *
     * @param created when it was created, which decides between classes for one resource
     */
    public record ClassResource(String deviceClass, String resource, String created) {}
}

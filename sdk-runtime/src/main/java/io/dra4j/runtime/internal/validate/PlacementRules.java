// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.Placement;
import org.jspecify.annotations.Nullable;

/** From which nodes a pool, or a device of it, can be used. */
final class PlacementRules {

    private PlacementRules() {}

    static void ofPool(Findings findings, @Nullable Placement placement) {
        if (placement == null) {
            Field.ofPool(findings, "placement").refuse("must be set", null);
        } else if (placement instanceof Placement.NamedNode named) {
            Field.ofPool(findings, "nodeName")
                    .refuse(
                            "must be absent: a pool belongs to this node, or each device has"
                                    + " whose it is",
                            named.name());
        } else if (placement instanceof Placement.MatchingNodes matching) {
            selector(Field.ofPool(findings, "nodeSelector"), matching.selector());
        }
    }

    static void ofDevice(Field device, @Nullable Placement pool, @Nullable Placement placement) {
        if (!(pool instanceof Placement.PerDevice)) {
            if (placement != null) {
                device.refuse(
                        "must have no placement of its own unless its pool has PerDevice placement",
                        placement);
            }
        } else if (placement instanceof Placement.NamedNode named) {
            Names.nodeName(device.child("nodeName"), named.name());
        } else if (placement instanceof Placement.MatchingNodes matching) {
            selector(device.child("nodeSelector"), matching.selector());
        } else if (!(placement instanceof Placement.AllNodes)) {
            device.refuse(
                    "must have one of nodeName, nodeSelector and allNodes, as its pool has"
                            + " PerDevice placement",
                    placement);
        }
    }

    private static void selector(Field field, @Nullable NodeSelector selector) {
        if (field.requires(selector)) {
            SelectorRules.check(field, selector);
        }
    }
}

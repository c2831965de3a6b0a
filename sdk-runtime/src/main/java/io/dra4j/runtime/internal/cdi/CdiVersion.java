// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.IntelRdt;
import java.util.stream.Stream;

/**
 * The versions of CDI, by the fields that they brought.
 *
 * <p>A spec declares the lowest version that knows its fields, since runtimes refuse versions newer
 * than they know.
 */
enum CdiVersion {
    V0_3_0("0.3.0"),
    V0_4_0("0.4.0"),
    V0_5_0("0.5.0"),
    V0_6_0("0.6.0"),
    V0_7_0("0.7.0"),
    V1_1_0("1.1.0");

    private final String text;

    CdiVersion(String text) {
        this.text = text;
    }

    /** Returns the lowest version that knows all that a spec uses. */
    static CdiVersion minimumOf(CdiSpec spec) {
        Stream<CdiVersion> ofDevices =
                spec.devices().stream().flatMap(device -> Stream.of(ofName(device.name()), of(device.edits())));
        Stream<CdiVersion> ofSpec = Stream.of(
                of(spec.edits()),
                spec.kind().substring(spec.kind().indexOf('/')).contains(".") ? V0_6_0 : V0_3_0);
        return Stream.concat(ofDevices, ofSpec).max(Enum::compareTo).orElse(V0_3_0);
    }

    private static CdiVersion ofName(String device) {
        return Character.isLetter(device.charAt(0)) ? V0_3_0 : V0_5_0;
    }

    private static CdiVersion of(ContainerEdits edits) {
        IntelRdt rdt = edits.intelRdt();
        if (!edits.netDevices().isEmpty() || rdt != null && (!rdt.schemata().isEmpty() || rdt.enableMonitoring())) {
            return V1_1_0;
        }
        if (rdt != null || !edits.additionalGids().isEmpty()) {
            return V0_7_0;
        }
        if (edits.deviceNodes().stream().anyMatch(node -> node.hostPath() != null)) {
            return V0_5_0;
        }
        return edits.mounts().stream().anyMatch(mount -> mount.type() != null) ? V0_4_0 : V0_3_0;
    }

    @Override
    public String toString() {
        return text;
    }
}

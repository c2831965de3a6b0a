// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kubelet itself remembers of claims, if its file can be read: a claim that it knows is
 * its own to unprepare.
 *
 * @see <a href="https://github.com/kubernetes/kubernetes/tree/v1.36.2/pkg/kubelet/cm/dra/state">The
 *     file's format; each claim's UID stands in it as text</a>
 */
record KubeletState(Path file) {

    /**
     * Takes the file's place from that of the driver's directory, {@code <root>/plugins/<name>}.
     */
    static KubeletState besideThePluginsOf(Path dataDirectory) {
        return new KubeletState(
                dataDirectory.resolveSibling("..").normalize().resolve("dra_manager_state"));
    }

    /** Says whether the kubelet knows a claim; {@code false} if its file can't be read. */
    boolean knows(String uid) {
        try {
            return Files.readString(file).contains(uid);
        } catch (IOException e) {
            return false; // most drivers' pods do not see the kubelet's own files
        }
    }
}

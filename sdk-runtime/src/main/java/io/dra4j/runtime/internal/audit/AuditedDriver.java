// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.runtime.internal.claim.KubeletClaims;
import java.nio.file.Path;

/**
 * The driver whose node is audited.
 *
 * @param directory the driver's directory below the kubelet's plugins
 */
record AuditedDriver(String name, String node, Path directory, Path cdiRoot) {

    Path journal() {
        return directory.resolve("claims.journal");
    }

    /** Returns the record of a driver in Go of this name. */
    Path checkpoint() {
        return directory.resolve("checkpoint.json");
    }

    Path kubeletState() {
        return KubeletClaims.file(directory);
    }
}

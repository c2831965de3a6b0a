// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The names of devices in the driver's CDI specs, by the UID of the claim.
 *
 * @param devices for each claim the names, such as {@code <uid>-gpu-0}; none if the file is damaged
 */
record SpecFiles(Map<String, List<String>> devices) {

    /**
     * Reads the specs of a driver.
     *
     * @throws NotCheckedException if the directory is not there, or can't be read
     */
    static SpecFiles read(AuditedDriver driver) {
        Path root = driver.cdiRoot();
        if (!Files.isDirectory(root)) {
            throw new NotCheckedException("there is no directory " + root + "; give the node's by --cdi-root");
        }
        CdiSpecs specs = CdiSpecs.reading(root, driver.name());
        Map<String, List<String>> devices = new LinkedHashMap<>();
        for (String uid : new TreeSet<>(specs.claimUids())) {
            devices.put(uid, specs.deviceNames(uid));
        }
        return new SpecFiles(devices);
    }
}

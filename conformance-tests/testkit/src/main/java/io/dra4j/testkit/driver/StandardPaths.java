// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The standard paths of a node, mounted from the run's directories for each process: those of the
 * kubelet wherever that is possible, so that no kubelet of the host registers the driver.
 */
record StandardPaths(ProcessSettings settings, List<String> cdiDirectories) {

    private static final String PLUGINS = "/var/lib/kubelet/plugins";
    private static final List<String> KUBELET = List.of(PLUGINS, Place.REGISTRY);
    private static final String CDI_IN_MEMORY = "/var/run/cdi";

    /** As runtimes read them, the one that counts most last. */
    private static final List<String> CDI = List.of(Place.CDI_ON_DISK.toString(), CDI_IN_MEMORY);

    /**
     * A place in which they are the run's.
     *
     * @throws DriverUnusable if the settings ask for what needs a mount namespace, and there is
     *     none
     */
    Place in(Place bare) {
        return in(bare, MountNamespace.missing());
    }

    /** The same where it is known why there is no mount namespace; empty if there is. */
    Place in(Place bare, String missing) {
        if (!missing.isEmpty()) {
            require(!settings.standardPaths(), "standardPaths", missing);
            require(!settings.inCluster(), "inCluster", missing);
        }
        Place place = missing.isEmpty() ? bare.withBootId() : bare;
        if (settings.standardPaths()
                || (missing.isEmpty() && MountNamespace.missing(KUBELET).isEmpty())) {
            place = place.withMount(PLUGINS, place.plugins()).withMount(Place.REGISTRY, place.registry());
        }
        if (settings.standardPaths()) {
            place = place.withMount(CDI_IN_MEMORY, place.cdi());
        }
        if (settings.inCluster()) {
            place = place.withMount(Place.SERVICE_ACCOUNT, made(place.serviceAccount()));
        }
        return withCdiDirectories(place);
    }

    private static void require(boolean met, String setting, String missing) {
        if (!met) {
            throw new DriverUnusable(
                    "driver.process.%s needs a mount namespace for the driver's process: run the suite as root, or with CAP_SYS_ADMIN; here: %s"
                            .formatted(setting, missing));
        }
    }

    private Place withCdiDirectories(Place given) {
        List<String> names = cdiDirectories;
        if (names.isEmpty()) {
            names = settings.standardPaths() ? CDI : List.of(given.cdi().toString());
        }
        Place place = given;
        List<Path> directories = new ArrayList<>();
        for (String name : names) {
            Path inside = Path.of(place.fill(name));
            Path outside = place.outside(inside);
            if (!outside.startsWith(place.root()) && place.canReboot()) {
                outside = place.root().resolve("cdi-" + directories.size());
                place = place.withMount(inside.toString(), outside);
            }
            directories.add(outside.startsWith(place.root()) ? made(outside) : outside);
        }
        return place.withCdiDirectories(directories);
    }

    private static Path made(Path directory) {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't make " + directory, e);
        }
    }
}

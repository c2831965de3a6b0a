// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The base of the images.
 *
 * @param debian where its packages come from
 * @param archive the base as an archive in Docker's layout; null for an image from nothing but layers
 * @param layers layers of ours that belong to it
 * @param packages Debian's packages of these layers
 */
record Base(Debian debian, @Nullable Path archive, List<Stage> layers, Set<String> packages) {

    private static final String PACKAGES = "packages";
    private static final String TAR = "tar:";

    /** The base that the settings name. */
    static Base of(Inputs inputs, Debian debian, Path jdk, Path folder) {
        Machine machine = debian.machine();
        if (inputs.base().equals(PACKAGES)) {
            Stage stage = Stage.at(folder, "base", inputs.time());
            return new Base(debian, null, List.of(stage), DebianPackages.stageBase(debian, stage, jdk));
        }
        Path archive = Folders.make(folder).resolve("base.tar");
        Archive.write(given(inputs, machine), archive, "base", folder.resolve("cache"));
        Unpacked base = Unpacked.names(archive);
        if (!base.has(machine.loader())) {
            throw new ImageBuildException("The base %s has no %s: it needs glibc for %s"
                    .formatted(inputs.base(), machine.loader(), machine.architecture()));
        }
        if (base.has("/usr/bin/bash") || base.has("/bin/bash")) {
            return new Base(debian, archive, List.of(), Set.of());
        }
        Stage shell = Stage.at(folder, "bash", inputs.time());
        return new Base(debian, archive, List.of(shell), DebianPackages.stageBash(debian, shell));
    }

    private static JibContainerBuilder given(Inputs inputs, Machine machine) {
        String name = inputs.base();
        try {
            JibContainerBuilder builder = name.startsWith(TAR)
                    ? Jib.from(TarImage.at(Path.of(name.substring(TAR.length()))))
                    : Jib.from(RegistryImage.named(name));
            // Jib reads no other archives
            return platform(builder, machine).setFormat(ImageFormat.Docker);
        } catch (InvalidImageReferenceException e) {
            throw new ImageBuildException(
                    "-Dimage.base=%s is none of packages, tar:FILE and a reference such as gcr.io/distroless/base-debian12"
                            .formatted(name),
                    e);
        }
    }

    /** A builder of an image with this base, whose layers come first. */
    JibContainerBuilder builder() {
        JibContainerBuilder builder = archive == null ? Jib.fromScratch() : Jib.from(TarImage.at(archive));
        platform(builder, debian.machine());
        layers.forEach(layer -> builder.addFileEntriesLayer(layer.layer()));
        return builder;
    }

    private static JibContainerBuilder platform(JibContainerBuilder builder, Machine machine) {
        return builder.setFormat(ImageFormat.OCI).setPlatforms(Set.of(new Platform(machine.architecture(), "linux")));
    }
}

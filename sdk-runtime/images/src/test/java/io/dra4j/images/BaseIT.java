// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bases other than Debian's packages; ours plays that of others. */
class BaseIT {

    private final Machine machine = Machine.current();

    @TempDir
    private Path folder;

    private Base from(String base) {
        Inputs inputs = Inputs.of("--target=" + folder, "--version=1.0", "--base=" + base);
        Path jdk = Folders.make(folder.resolve("jdk"));
        Folders.copy(Path.of("/bin/bash"), jdk.resolve("java"));
        return Base.of(inputs, Debian.here(), jdk, folder.resolve("of"));
    }

    /** An archive with our base, from which some files are removed, and in which /lib and /lib64 would be links. */
    private Path archive(String... removed) throws Exception {
        Base packages = from("packages");
        Stage stage = packages.layers().get(0);
        stage.copy(Debian.here().file(machine.loader()), "/usr" + machine.loader());
        Files.delete(stage.file(machine.loader()));
        for (String file : removed) {
            Files.delete(stage.file(file));
        }
        Path archive = folder.resolve("given.tar");
        JibContainerBuilder builder = packages.builder().setFormat(ImageFormat.Docker);
        Archive.write(builder, archive, "base", folder.resolve("cache"));
        return archive;
    }

    @Test
    void mayBeAnArchiveThatHasBash() throws Exception {
        Base base = from("tar:" + archive());

        assertThat(base.layers()).isEmpty();
        assertThat(base.packages()).isEmpty();
    }

    @Test
    void getsBashIfItHasNone() throws Exception {
        Base base = from("tar:" + archive("/usr/bin/bash", "/var/lib/dpkg/status.d/bash"));

        assertThat(base.packages()).isEqualTo(Set.of("bash", "libtinfo6"));
        Path image = folder.resolve("image.tar");
        Archive.write(base.builder(), image, "image", folder.resolve("cache"));
        Unpacked unpacked = Unpacked.names(image);
        assertThat(unpacked.files()).contains("/usr/bin/bash", "/usr/share/doc/bash/copyright", "/etc/nsswitch.conf");
        assertThat(unpacked.manifest().get("layers")).hasSize(2);
    }

    @Test
    void isRefusedWithoutGlibcOrWhatTheJdkNeeds() throws Exception {
        Path archive = archive("/usr" + machine.loader());

        assertThatThrownBy(() -> from("tar:" + archive))
                .hasMessageContaining("has no " + machine.loader() + ": it needs glibc");
        archive(machine.libraries() + "/libtinfo.so.6");
        assertThatThrownBy(() -> from("tar:" + archive)).hasMessageContaining("has no libtinfo.so.6, which the JDK");
        Path newer = Files.copy(Path.of("/bin/bash"), folder.resolve("jdk/newer"));
        Files.writeString(newer, "GLIBC_2.99", StandardOpenOption.APPEND);
        archive();
        assertThatThrownBy(() -> from("tar:" + archive)).hasMessageContaining("/newer needs 2.99: use a newer base");
    }

    @Test
    void isRefusedIfItIsNoReference() {
        assertThatThrownBy(() -> from("No Reference"))
                .isInstanceOf(ImageBuildException.class)
                .hasMessageContaining("-Dimage.base=No Reference is not packages, tar:FILE");
    }

    @Test
    void needsAJdk25() {
        Path given = Path.of("").toAbsolutePath().relativize(folder);
        assertThatThrownBy(() -> Jdk.find(given.toString(), Map.of()))
                .isInstanceOf(ImageBuildException.class)
                .hasMessageContaining("No JDK 25 with jlink is at " + List.of(folder))
                .hasMessageContaining("-Dimage.jdk=DIR");
    }
}

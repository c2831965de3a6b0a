// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packages of another architecture, with a stand-in of apt-get; and the libraries that their files need. */
class DebianIT {

    private static final String STAND_IN =
            Path.of("src/test/resources/io/dra4j/images/apt").toAbsolutePath() + ":/usr/bin:/bin";

    @TempDir
    private Path folder;

    private void unpack(String path, String offline) {
        List<String> environment = List.of("/usr/bin/env", "PATH=" + path, "OFFLINE=" + offline);
        Debian.unpack(environment, Machine.named("arm64"), folder);
    }

    @Test
    void areUnpackedAndKnowWhoseFilesAre() throws Exception {
        Debian debian = new Debian(Machine.named("arm64"), folder.resolve("root"));

        unpack(STAND_IN, "0");

        Path status = debian.file("/var/lib/dpkg/status");
        Files.writeString(
                status, Files.readString(status) + Files.readString(status).replace("arm64", "i386"));
        Path library = debian.file("/lib/aarch64-linux-gnu/libacme.so.1");
        assertThat(debian.owner(library)).isEqualTo("libacme1");
        assertThat(Debian.here().owner(Path.of("/bin/bash"))).isEqualTo("bash");
        assertThat(Tool.tried(List.of("no-such-program"))).isEmpty();
        assertThat(debian.about("libacme1", "--status")).contains("install ok installed", "Architecture: arm64");
        assertThat(debian.distribution()).isEqualTo("acme");
        assertThat(folder.resolve("ran")).as("a script of a package").doesNotExist();
        assertThat(folder.resolve("configuration"))
                .content()
                .contains(
                        "Acquire::http::Proxy \"http://proxy.example.com:3128\"",
                        "Acquire::AllowInsecureRepositories \"false\"",
                        "APT::Get::AllowUnauthenticated \"false\"",
                        "Dir::Etc::sourcelist \"" + folder + "/sources.list\"");
    }

    @ParameterizedTest
    @CsvSource({"/nowhere, 0, 'install apt-get, or build on Debian'", "'', 100, apt-get can't read Debian's archive"})
    void areMissedWithWhatToDo(String path, String offline, String message) {
        assertThatThrownBy(() -> unpack(path.isEmpty() ? STAND_IN : path, offline))
                .isInstanceOf(ImageBuildException.class)
                .hasMessageContaining("Images for arm64 are built from packages of Debian's trixie: " + message)
                .hasMessageNotContaining("set -eu");
    }

    @ParameterizedTest
    @ValueSource(strings = {"now", "arm64"})
    void areNeededByFilesOfTheirArchitecture(String built) throws Exception {
        Stage files = Stage.at(folder, "files", Instant.EPOCH);
        Path library = Path.of(System.getProperty("dra4j.nvml"), built, "libnvidia-ml.so.1");
        assumeTrue(Files.exists(library), "Debian's gcc-aarch64-linux-gnu, which builds it, is not installed");
        Machine machine = built.equals("now") ? Machine.current() : Machine.named(built);
        String other = machine.architecture().equals("arm64") ? "amd64" : "arm64";
        Debian debian = new Debian(machine, folder);

        files.copy(library, "/a.so");
        Elf.require(machine, files);
        assertThatThrownBy(() -> Elf.require(Machine.named(other), files))
                .hasMessageStartingWith("/a.so can't be in an image for " + other);
        assertThatThrownBy(() -> Elf.needed(List.of(library), debian))
                .hasMessageContaining("needs libc.so.6, which is not at ");
        Path libc = debian.file(machine.libraries() + "/libc.so.6");
        Files.copy(library, Folders.make(libc.getParent()).resolve("libc.so.6"));
        assertThat(Elf.needed(List.of(library), debian)).containsExactly(libc);
        assertThat(Elf.needed(List.of(library, libc), debian)).isEmpty();
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.images.Container.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The conformance suite in its image, as a user who is not root. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ConformanceImageIT {

    private static final Map<String, String> CACHE_ONLY = Map.of("JAVA_OPTS", "-XX:AOTMode=on");

    /** A driver that does nothing: only bash can run one. */
    private static final String RUN = "echo $UID; dra-conformance run --driver-name=gpu.example.com --only=DRA-REG-02"
            + " --start-timeout=2 --report=/tmp/report -- bash -c 'read -rt 60 <> <(:)'";

    @TempDir
    private static Path folder;

    private static Container container;

    @BeforeAll
    static void unpack() throws Exception {
        Built.assumeContainers();
        container = Container.unpack(Built.archive(Image.CONFORMANCE), folder.resolve("root"));
    }

    @ParameterizedTest
    @CsvSource({"--version, 'dra-conformance \\d+\\.\\d+\\.\\d+\\S*\\n'", "list, '(?s).*DRA-PREP-01.*'"})
    void runsWithItsCache(String option, String output) throws Exception {
        Ended ended = container.run(CACHE_ONLY, container.entryPoint(), option);

        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output()).matches(output).doesNotContainIgnoringCase(DriverImagesIT.LACKING);
    }

    @Test
    void runsADriverWithAFolderForTemporaryFilesAsOfAPod() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxrwxrwx"));

        Process process = container.start(temporary + "=/tmp", CACHE_ONLY, "bash", "-c", RUN);

        String output = new String(process.getInputStream().readAllBytes());
        assertThat(output)
                .startsWith("65532\n")
                .contains("has not registered within 2 s")
                .doesNotContainIgnoringCase(DriverImagesIT.LACKING);
        assertThat(process.waitFor()).as("what makes no socket is not judged").isEqualTo(3);
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names from the API, however odd, become valid CDI names below the CDI directory, or an error. */
@Tag("counts")
class CdiNamesFuzzTest {

    private static final int NAMES = Boolean.getBoolean("dra4j.nightly") ? 100_000 : 3_000;
    private static final long SEED = 20_261_121;
    private static final String ODD = "aZ09-_.:/\\\0\n =\"\u00e4\ud83d";
    private static final ContainerEdits ENV =
            ContainerEdits.builder().env("A", "1").build();

    @TempDir
    Path folder;

    private final Random random = new Random(SEED);

    @Test
    void oddNamesAreWrittenWellOrRefused() throws IOException {
        Path root = Files.createDirectory(folder.resolve("cdi"));
        CdiSpecs specs = new CdiSpecs(root, "gpu.example.com");
        int written = 0;
        for (int i = 0; i < NAMES; i++) {
            String uid = uid();
            List<DeviceEdits> devices = IntStream.range(0, 1 + random.nextInt(3))
                    .mapToObj(n -> device())
                    .toList();
            try {
                specs.write(uid, ContainerEdits.NONE, devices);
                written++;
                assertThat(specs.ids(uid, devices)).hasSameSizeAs(new HashSet<>(specs.ids(uid, devices)));
                specs.ids(uid, devices).forEach(CdiNamesFuzzTest::requireQualifiedName);
                assertThat(root.resolve("k8s.gpu.example.com-claim_" + uid + ".json"))
                        .isRegularFile();
                specs.remove(uid);
            } catch (DraException e) {
                assertThat(e).hasMessageMatching("(?s)(Not a claim UID|The container edits of).*");
            }
            assertThat(root).isEmptyDirectory();
        }
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).containsExactly(root);
        }
        assertThat(written).isBetween(NAMES / 10, NAMES - 1);
        System.out.printf("fuzz: seed %d, %d CDI names, %d written, the others refused%n", SEED, NAMES, written);
    }

    /** The grammar of CDI, read by hand and not by the expressions that are tested. */
    private static void requireQualifiedName(String id) {
        String name = id.substring("k8s.gpu.example.com/claim=".length());
        assertThat(id).startsWith("k8s.gpu.example.com/claim=");
        assertThat(isAlphanumeric(name.charAt(0))).as(name).isTrue();
        assertThat(isAlphanumeric(name.charAt(name.length() - 1))).as(name).isTrue();
        assertThat(name.chars().allMatch(c -> isAlphanumeric((char) c) || "_-.:".indexOf(c) >= 0))
                .as(name)
                .isTrue();
    }

    private static boolean isAlphanumeric(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
    }

    private DeviceEdits device() {
        DeviceName name = new DeviceName(random.nextBoolean() ? "gpu-0" : "gpu-1");
        return new DeviceEdits(new PoolName("node"), name, shareId(), ENV);
    }

    private @Nullable String shareId() {
        return switch (random.nextInt(4)) {
            case 0 -> odd();
            case 1 -> "f47ac10b-58cc-4372-a567-0e02b2c3d479";
            default -> null;
        };
    }

    private String uid() {
        return random.nextInt(3) == 0 ? odd() : "uid-" + random.nextInt(1000);
    }

    private String odd() {
        if (random.nextInt(20) == 0) {
            return "../".repeat(1 + random.nextInt(3)) + "x";
        }
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(random.nextInt(10) == 0 ? 300 : 12);
        for (int i = 0; i < length; i++) {
            text.append(ODD.charAt(random.nextInt(ODD.length())));
        }
        return text.toString();
    }
}

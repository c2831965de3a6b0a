// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.InventoryWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultyDevicesTest {

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("faults");
    }

    private DeviceProvider gpus() {
        FakeGpuProvider well = new FakeGpuProvider("gpu.example.com", "node-a", 3);
        return new FaultyDevices(well, file(), "gpu.example.com");
    }

    private List<Device> offered() throws Exception {
        return gpus().inventory().pools().get(0).devices();
    }

    private void write(String text) throws IOException {
        Files.writeString(file(), text);
    }

    @Nested
    class TheFile {

        @Test
        void mayBeMissingOrEmpty() throws Exception {
            assertThat(offered()).hasSize(3).allMatch(gpu -> gpu.taints().isEmpty());
            write("");
            assertThat(offered()).hasSize(3).allMatch(gpu -> gpu.taints().isEmpty());
        }

        @Test
        void taintsAndUnplugsWhatItNames() throws Exception {
            write("# by hand\n\ngpu-0 NoExecute ecc-error\n  gpu-2   absent \n");

            assertThat(offered()).extracting(gpu -> gpu.name().value()).containsExactly("gpu-0", "gpu-1");
            assertThat(offered().get(0).taints())
                    .containsExactly(Taint.of("gpu.example.com/fault", "ecc-error", Taint.Effect.NO_EXECUTE));
            assertThat(offered().get(1).taints()).isEmpty();
        }

        @ParameterizedTest
        @CsvSource({"NoSchedule,NO_SCHEDULE", "NoExecute,NO_EXECUTE", "None,NONE"})
        void knowsEveryEffect(String written, Taint.Effect effect) throws Exception {
            write("gpu-1 " + written + " hot");

            assertThat(offered().get(1).taints()).extracting(Taint::effect).containsExactly(effect);
        }

        @ParameterizedTest
        @CsvSource({
            "gpu-0,gpu-0,<device> absent",
            "gpu-0 gone,gpu-0 gone,<device> absent",
            "gpu-0 NoExecute two words,two words,<reason>",
            "gpu-0 Noexecute hot,\"Noexecute\",NoSchedule|NoExecute|None",
            "gpu-0 NoExecute -hot,\"-hot\",letters",
            "gpu-7 absent,\"gpu-7\",published name",
            "gpu-1 NoExecute hot,a second line for gpu-1,keep one",
        })
        void namesABadLineAndWhatToWrite(String line, String wrong, String advice) throws Exception {
            write("# nothing\ngpu-1 None odd\n" + line + "\n");

            assertThatThrownBy(() -> gpus().inventory())
                    .isInstanceOf(DraException.class)
                    .hasMessageStartingWith("Fault file " + file() + ", line 3: ")
                    .hasMessageContaining(wrong)
                    .hasMessageContaining(advice);
        }

        @Test
        void doesNotTouchTheOfferOfWhatIsUnwell() throws Exception {
            write("gpu-0 unhealthy fell off\ngpu-1 unknown\ngpu-2 silent");

            assertThat(offered()).hasSize(3).allMatch(gpu -> gpu.taints().isEmpty());
        }

        @Test
        void isNotForgottenWhenItCannotBeRead() throws Exception {
            Files.createDirectory(file());

            assertThatThrownBy(() -> gpus().inventory())
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(file().toString());
        }
    }

    @Test
    void aMountedConfigMapThatChangesIsNoticed() throws Exception {
        CountDownLatch noticed = new CountDownLatch(1);
        Path before = Files.createDirectory(folder.resolve("..before"));
        Files.createSymbolicLink(folder.resolve("..data"), before.getFileName());
        Files.createSymbolicLink(file(), Path.of("..data/faults"));

        try (InventoryWatch watch = InventoryWatch.ofFile(file(), noticed::countDown)) {
            assertThat(watch).isNotNull();
            Path after = Files.createDirectory(folder.resolve("..after"));
            Files.writeString(after.resolve("faults"), "gpu-0 absent");
            Path link = folder.resolve("..data_tmp");
            Files.createSymbolicLink(link, after.getFileName());
            Files.move(link, folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);

            assertThat(noticed.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(offered()).extracting(gpu -> gpu.name().value()).containsExactly("gpu-1", "gpu-2");
        }
    }
}

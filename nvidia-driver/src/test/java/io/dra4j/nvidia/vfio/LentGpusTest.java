// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.vfio.LentGpus.LentFunction;
import io.dra4j.nvidia.vfio.LentGpus.LentGpu;
import java.util.List;
import org.junit.jupiter.api.Test;

class LentGpusTest {

    private static LentGpu gpu(String address, boolean isPersistent) {
        return new LentGpu(address, "dev/nvidia0", isPersistent, List.of(new LentFunction(address, "nvidia", null)));
    }

    @Test
    void areReadAsTheyWereWritten() {
        LentGpu one = gpu("0000:17:00.0", true);
        LentGpu other =
                new LentGpu("0000:27:00.0", "", false, List.of(new LentFunction("0000:27:00.0", "nvidia", "x")));

        assertThat(LentGpus.read(LentGpus.read(null).with(one).with(other).toProviderState())
                        .gpus())
                .containsExactly(one, other);
    }

    /** The next try of a claim takes a GPU again. */
    @Test
    void aGpuIsRecordedOnce() {
        LentGpu again = gpu("0000:17:00.0", false);

        LentGpus lent = LentGpus.read(null).with(gpu("0000:17:00.0", true)).with(again);

        assertThat(lent.gpus()).containsExactly(again);
    }

    @Test
    void noneIsNoState() {
        LentGpu gpu = gpu("0000:17:00.0", true);
        assertThat(LentGpus.read(null).with(gpu).without(gpu).toProviderState()).isNull();
    }
}

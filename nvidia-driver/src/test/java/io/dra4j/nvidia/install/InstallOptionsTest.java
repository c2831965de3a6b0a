// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class InstallOptionsTest {

    @ParameterizedTest
    @CsvSource({
        "'', false",
        "--dynamic-mig, true",
        "--feature-gates=DynamicMIG=true, true",
        "--feature-gates=DynamicMIG=false, false",
        "--dynamic-mig --feature-gates=DynamicMIG=false, true",
        "--dynamic-mig=false --feature-gates=DynamicMIG=true, false",
        "--dynamic-mig= --feature-gates=DynamicMIG=true, true",
    })
    void theOptionOutweighsTheGate(String args, boolean isDynamic) {
        String[] given = args.isEmpty() ? new String[0] : args.split(" ");
        InstallOptions options = CommandLine.populateCommand(new InstallOptions(), given);

        assertThat(options.inventorySettings("node").dynamicMig()).isEqualTo(isDynamic);
    }
}

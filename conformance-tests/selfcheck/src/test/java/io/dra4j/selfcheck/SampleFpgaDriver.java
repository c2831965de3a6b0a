// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverOptions;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The program of docs-site/how-to/write-your-provider.md, which quotes the regions. */
final class SampleFpgaDriver {

    private SampleFpgaDriver() {}

    // #region options
    static final class Options extends DriverOptions {
        @Option(names = "--fpga-root", defaultValue = "/sys/class/fpga")
        Path root;
    }

    public static void main(String[] args) {
        Options own = new Options();
        DriverMain.of("fpga.example.com", own, options -> new SampleFpgaProvider(options.nodeName(), options.root))
                .run(args);
    }
    // #endregion options
}

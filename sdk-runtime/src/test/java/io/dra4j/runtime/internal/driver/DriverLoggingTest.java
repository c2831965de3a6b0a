// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.driver.JavaProgram;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The logging of a process of its own: whether the JDK logs its security events, it decides once in a process. */
class DriverLoggingTest {

    @TempDir
    private Path folder;

    private String log(String verbosity) throws Exception {
        JavaProgram program = new JavaProgram(
                folder, JavaProgram.SHORT_LIVED, JavaProgram.ownClassPath(), TlsRequest.class.getName());
        return Ended.of(Map.of(), program.command(), verbosity, folder.toString())
                .printed();
    }

    /** A name would be one that the JDK's server has looked up for the connection. */
    @Test
    void atFourTheJdkIsQuiet() throws Exception {
        assertThat(log("4").lines())
                .singleElement()
                .asString()
                .endsWith("DEBUG TlsRequest: The answer to 127.0.0.1 has status 200");
    }

    @Test
    void atSixTheJdkLogsCertificatesHandshakesAndRequests() throws Exception {
        assertThat(log("6"))
                .contains("DEBUG security:", "X509Certificate: Alg:", "TLSHandshake:", "has status 200")
                .contains("httpserver")
                .doesNotContain("a frame of HTTP/2");
    }
}

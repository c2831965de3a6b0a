// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Result;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code doctor} of a driver's program. */
@SetsUpLogging
class DriverDoctorTest {

    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^(  |  -[a-z], | {6}))--[a-z-]+");

    private static final DriverProgram PROGRAM =
            new DriverProgram("acme-driver", "Drives Acme cards.", "acme.example.com", DriverDoctorTest.class);

    private static final Check OWN = new Check() {
        @Override
        public String id() {
            return "firmware";
        }

        @Override
        public Result look() {
            return Result.healthy("the firmware is new");
        }
    };

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();

    private int execute(String... args) {
        List<String> all = new ArrayList<>(List.of("doctor"));
        all.addAll(List.of(args));
        return new DriverMain(
                        new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), environment, new Ending())
                .executeDoctor(
                        all.toArray(String[]::new),
                        PROGRAM,
                        new DriverOptions.Standard(),
                        (filled, cluster) -> List.of(OWN));
    }

    private String out() {
        return out.toString(UTF_8);
    }

    private String err() {
        return err.toString(UTF_8);
    }

    @Test
    void looksWithTheOptionsOfTheDriver(@TempDir Path folder) throws IOException {
        environment.put("NODE_NAME", "node-a");
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().node("node-a").start()) {
            environment.put(
                    "KUBECONFIG", api.writeKubeconfig(folder.resolve("config")).toString());

            int status = execute(
                    "--kubelet-plugins-directory-path=" + folder,
                    "--kubelet-registrar-directory-path=" + folder.resolve("none"),
                    "--output=json");

            assertThat(status).isOne();
            assertThat(out())
                    .contains("\"subject\" : \"acme.example.com on node node-a\"")
                    .contains("\"object\" : \"" + folder.resolve("none") + "\"")
                    .contains("the firmware is new");
        }
    }

    @Test
    void withoutANodeNameSaysSo() {
        assertThat(execute()).isEqualTo(2);
        assertThat(err()).contains("--node-name");
    }

    @Test
    void withoutAKubeconfigCannotLook() {
        assertThat(execute("--node-name=a", "--kubeconfig=/no/such")).isEqualTo(2);
        assertThat(err()).contains("Cannot read the kubeconfig file /no/such");
    }

    @Test
    void showsItsOwnOptionsFirst() {
        assertThat(execute("--help")).isZero();
        assertThat(OPTION.matcher(out()).results().map(MatchResult::group))
                .startsWith("--host-root", "--output")
                .contains("--node-name", "--cdi-root");
    }
}

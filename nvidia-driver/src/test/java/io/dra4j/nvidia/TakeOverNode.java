// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.takeover.GoFiles;
import io.dra4j.nvidia.takeover.GoForm;
import io.dra4j.nvidia.vfio.Passthrough;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.slf4j.LoggerFactory;

/** The checkpoint of NVIDIA's own driver: it has claim one, which is taken over, or others that are handed over. */
abstract class TakeOverNode extends ProviderOnBoards {

    private static final String BOOT_OF_CLAIMS = ",\"nodeBootID\":\"%s\"".formatted(BOOT);

    private final Logger logger = (Logger) LoggerFactory.getLogger(NvidiaTakeOver.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private String members; // of the checkpoint
    private NvidiaTakeOver taking;
    private Nvml used;
    private PreparedClaim adopted;

    @AfterEach
    void endLog() {
        logger.detachAppender(log);
    }

    private Path file() {
        return folder.resolve("checkpoint.json");
    }

    private NvidiaTakeOver takeOver() {
        used = node.nvml();
        taking = new NvidiaTakeOver(
                new NvidiaTakeOver.Node(used, settings(dynamicMig), earlierBoot()),
                new Edits(node.roots(), HookProgram.at(node.hook())),
                sharing());
        return taking;
    }

    /** Does what a line says about the checkpoint. */
    final void checkpoint(String verb, List<String> words, String text) throws IOException {
        switch (verb) {
            case "checkpoint" -> write(begun(words.get(0), words.get(1), entry(words)));
            case "no-claims" -> write("\"preparedClaims\":{}");
            case "rewrite" -> write(members.replace(text.split(" => ")[0], text.split(" => ")[1]));
            case "no-boot" -> write(members.replace(BOOT_OF_CLAIMS, ""));
            case "written" -> Files.setLastModifiedTime(file(), FileTime.from(Instant.parse(words.get(0))));
            case "booted" -> node.booted(Instant.parse(words.get(0)));
            case "log" -> {
                log.start();
                logger.addAppender(log);
            }
            case "lost" -> {
                assertThat(takeOver().claims(BOOT)).containsExactly(ONE.uid());
                taking.inventory();
                claims.held.add(HeldClaim.builder(ONE)
                        .phase(Phase.DAMAGED)
                        .devices(taking.lost(ONE.uid()))
                        .build());
                taking.finish();
            }
            case "finish" -> taking.finish();
            case "released" -> assertThatThrownBy(used::read).hasMessageContaining(text);
            case "unreadable" ->
                assertThatThrownBy(() -> takeOver().claims(BOOT))
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.replace("\\n", "\n").split(" \\| "));
            case "not-taken" -> {
                takeOver().claims(BOOT);
                assertThatThrownBy(() -> taking.check(ONE.uid()))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContaining(text);
            }
            case "hand-over" -> Files.write(file(), exported());
            default -> throw new IllegalArgumentException(verb);
        }
    }

    private void write(String changed) throws IOException {
        assertThat(changed).isNotEqualTo(members);
        members = changed;
        Files.write(file(), GoFiles.secondVersion(changed));
    }

    private static String begun(String state, String allocated, String devices) {
        return """
               "preparedClaims":{"%s":{"checkpointState":"%s","status":{"allocation":{"devices":{"results":[{"device":"%s"}],"config":[]}}},"preparedDevices":[{"devices":[%s],"configState":{}}]}}%s\
               """.formatted(ONE.uid(), state, allocated, devices, BOOT_OF_CLAIMS);
    }

    /** Returns a device of the checkpoint by its kind, its UUID and its name, if any. */
    private static String entry(List<String> words) {
        if (words.size() == 2) {
            return "";
        }
        String named = """
                "device":{"Requests":["r"],"PoolName":"node-1","DeviceName":"%s","CDIDeviceIDs":["k8s.gpu.nvidia.com/claim=%s-%1$s"]}""".formatted(words.get(4), ONE.uid());
        String identified = words.get(2).equals("mig")
                ? "\"concrete\":{\"parentMinor\":0,\"giId\":1,\"ciId\":0,\"migUUID\":\"%s\",\"parentUUID\":\"x\"}"
                : "\"info\":{\"uuid\":\"%s\"}";
        return "{\"%s\":{%s,%s}}".formatted(words.get(2), identified.formatted(words.get(3)), named);
    }

    /** Adopts claim one as the runtime does. */
    final PreparedClaim adopt(AllocatedClaim claim) {
        assertThat(takeOver().claims(BOOT)).containsExactly(ONE.uid());
        taking.inventory();
        taking.check(ONE.uid());
        adopted = taking.adopt(claim);
        claims.held.add(HeldClaim.builder(ONE)
                .phase(Phase.PREPARED)
                .devices(claim.devices().stream().map(AllocatedDevice::held).toList())
                .state(adopted.state())
                .build());
        return adopted;
    }

    private byte[] exported() {
        return new CheckpointExport(
                        "gpu.nvidia.com",
                        nvml,
                        settings(dynamicMig),
                        new Passthrough(nvml, node.options().nvidiaSmi(), passthrough()),
                        GoForm.of("0.5"))
                .checkpoint(BOOT, claims.held);
    }

    /** Returns what a line asks about the checkpoint; devices without quotes. */
    final String checkpoint(String what, String of, PreparedClaim prepared) throws IOException {
        return switch (what) {
            case "taken" ->
                takeOver().claims(of).stream()
                        .map(uid -> uid.equals(ONE.uid()) ? "one" : uid)
                        .toList()
                        .toString();
            case "lost" -> {
                takeOver().claims(BOOT);
                taking.inventory();
                List<String> names = taking.lost(ONE.uid()).stream()
                        .map(one -> one.device().value())
                        .toList();
                taking.finish();
                yield names.toString();
            }
            case "taking" -> String.valueOf(taking.hasRun());
            case "adopted" ->
                prepared.edits().equals(adopted.edits())
                                && prepared.devices()
                                        .get(0)
                                        .edits()
                                        .equals(adopted.devices().get(0).edits())
                        ? "as prepared"
                        : "otherwise";
            case "logged" ->
                log.list.stream()
                        .filter(line -> line.getKeyValuePairs().get(0).value.equals(file()))
                        .map(line -> "%s %s %s"
                                .formatted(line.getLevel(), line.getFormattedMessage(), line.getKeyValuePairs()))
                        .toList()
                        .toString();
            case "refusals" -> {
                String message =
                        catchThrowableOfType(DraException.class, this::exported).getMessage();
                assertThat(message)
                        .startsWith("NVIDIA's driver can't continue with these claims:\n- claim ")
                        .contains("kubectl drain node-1 --ignore-daemonsets");
                yield message.lines()
                        .filter(line -> line.startsWith("- "))
                        .toList()
                        .toString();
            }
            case "exists" -> String.valueOf(Files.exists(folder.resolve(of)));
            case "exported" -> {
                ClaimRef claim = of.equals("one") ? ONE : TWO;
                yield new ObjectMapper()
                        .readTree(exported())
                        .at("/v2/preparedClaims/" + claim.uid() + "/preparedDevices")
                        .toString()
                        .replace("\"", "");
            }
            default -> throw new IllegalArgumentException(what);
        };
    }
}

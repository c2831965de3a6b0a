// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.mutants.Answer.Prepared;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Drivers that are unusual, and right. */
final class OddDrivers {

    private OddDrivers() {}

    static void install(String id, Parts parts) {
        switch (id) {
            case "" -> {}
            case "H-27" -> parts.work = ShapedClaims.AllOrNothing::new;
            case "H-28" -> parts.work = ShapedClaims.Configured::new;
            case "H-1" -> {
                parts.cdi = NoCdi::new;
                parts.state = FailingClosed::new; // there is nothing to make it anew from
            }
            case "H-2" -> {
                parts.cdi = OneStaticSpec::new;
                parts.state = FailingClosed::new;
            }
            case "H-2b" -> parts.cdi = CommonSpec::new;
            case "H-3" -> parts.cdi = YamlSpecs::new;
            case "H-4" -> parts.work = WholeReads::new;
            case "H-4b" -> parts.calls = WholeErrors::new;
            case "H-5" -> oneSocket(parts);
            case "H-6" -> alone(parts, "v1.DRAPlugin", PluginV1.class);
            case "H-6b" -> alone(parts, "v1beta1.DRAPlugin", PluginV1beta1.class);
            case "H-7" -> network(parts);
            case "H-8" -> parts.settings = given -> given.with("--num-devices", "0");
            case "H-9a" -> {
                parts.calls = SlowCalls::new;
                slowPublishing(parts, 25_000);
            }
            case "H-9b" -> {
                parts.work = SlowWork::new;
                slowPublishing(parts, 4_000);
            }
            case "H-10" -> parts.state = NoState::new;
            case "H-11" -> parts.settings = given -> given.with("--pools", "2");
            case "H-12" -> parts.work = SharesTwice::new;
            case "H-13" -> {
                parts.state = FailingClosed::new;
                parts.driver = given -> new CheckingFirst(given, parts);
            }
            case "H-14" -> parts.plan = FixedNames::new;
            case "H-15" -> parts.work = Backwards::new;
            case "H-16" -> parts.api = ProtobufClient::new;
            case "H-17" -> parts.work = GoNames::new;
            case "H-18" -> slowPublishing(parts, 8_000);
            case "H-19" -> noSlices(parts);
            default -> {
                if (!OddReactions.install(id, parts) && !OddPlaces.install(id, parts)) {
                    throw new IllegalArgumentException("There is no odd driver " + id);
                }
            }
        }
    }

    private static final class NoCdi extends CdiSpecs {
        NoCdi(Settings settings) {
            super(settings);
        }

        @Override
        List<String> ids(String uid, String device, String share) {
            return List.of();
        }

        @Override
        void write(ObjectNode held) {}

        @Override
        void restore(ObjectNode held) {}
    }

    /** A spec of all devices, which no claim changes. */
    private static final class OneStaticSpec extends CdiSpecs {
        OneStaticSpec(Settings settings) {
            super(settings);
        }

        @Override
        List<String> ids(String uid, String device, String share) {
            return List.of(kind() + "=" + device);
        }

        @Override
        void write(ObjectNode held) {
            ObjectNode spec = Json.object().put("cdiVersion", "0.3.0").put("kind", kind());
            new Inventory(settings)
                    .pools()
                    .forEach(
                            (pool, devices) ->
                                    devices.forEach(d -> add(spec, d.path("name").asText())));
            try {
                Files.createDirectories(folder);
                put(folder.resolve(settings.driver() + "-static.json"), spec.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }

        private static void add(ObjectNode spec, String name) {
            ObjectNode device = spec.withArray("devices").addObject().put("name", name);
            device.withObject("/containerEdits")
                    .putArray("env")
                    .add("GPU_" + name.replace('-', '_') + "=yes");
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void delete(String uid) {}
    }

    /** Beside the specs of claims one for all of them, which is written anew with each. */
    private static final class CommonSpec extends CdiSpecs {
        CommonSpec(Settings settings) {
            super(settings);
        }

        @Override
        List<String> ids(String uid, String device, String share) {
            List<String> ids = new ArrayList<>(super.ids(uid, device, share));
            ids.add(kind() + "=common");
            return ids;
        }

        @Override
        void write(ObjectNode held) {
            super.write(held);
            ObjectNode spec = Json.object().put("cdiVersion", "0.6.0").put("kind", kind());
            spec.putObject("annotations").put("example.com/written", Instant.now().toString());
            ObjectNode device = spec.putArray("devices").addObject().put("name", "common");
            device.withObject("/containerEdits").putArray("env").add("GPU_DRIVER=bare");
            try {
                put(folder.resolve(settings.driver() + "-common.json"), spec.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }
    }

    private static final class YamlSpecs extends CdiSpecs {
        private static final String HEAD = "# A CDI spec\n---\n";

        YamlSpecs(Settings settings) {
            super(settings);
        }

        @Override
        Path file(String uid) {
            return folder.resolve(settings.driver() + "-gpu_" + uid + ".yaml");
        }

        @Override
        void put(Path file, String content) throws IOException {
            Path next =
                    Files.writeString(
                            file.resolveSibling("." + file.getFileName() + ".next"),
                            HEAD + content);
            Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
            Files.move(next, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        String content(Path file) throws IOException {
            return super.content(file).substring(HEAD.length());
        }

        @Override
        List<Path> files() {
            return files(settings.driver() + "-gpu_*.yaml");
        }
    }

    /** A claim that can't be read fails the whole call, as in drivers on the Go helper. */
    private static final class WholeReads extends ClaimWork {
        WholeReads(BareDriver driver) {
            super(driver);
        }

        @Override
        Answer prepare(ClaimId id) {
            try {
                return Answer.of(devices(work(id)));
            } catch (StatusRuntimeException e) {
                throw e;
            } catch (RuntimeException e) {
                return Answer.failed(message(e));
            }
        }

        @Override
        JsonNode fetch(ClaimId id) {
            try {
                JsonNode claim = super.fetch(id);
                checkUid(id, claim);
                checkAllocated(claim);
                return claim;
            } catch (Refused | ApiClient.Failed e) {
                throw Status.UNKNOWN.withDescription(e.getMessage()).asRuntimeException();
            }
        }
    }

    /** Whatever is wrong with a claim fails the whole call. */
    private static final class WholeErrors extends Calls {
        WholeErrors(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            Map<String, Answer> answers = super.prepare(version, claims);
            answers.values().forEach(answer -> none(answer.error()));
            return answers;
        }

        @Override
        Map<String, String> unprepare(String version, List<ClaimId> claims) {
            Map<String, String> answers = super.unprepare(version, claims);
            answers.values().forEach(WholeErrors::none);
            return answers;
        }

        private static void none(String error) {
            if (!error.isEmpty()) {
                throw Status.UNKNOWN.withDescription(error).asRuntimeException();
            }
        }
    }

    private static void oneSocket(Parts parts) {
        parts.driver =
                given ->
                        new BareDriver(given, parts) {
                            @Override
                            void serve() {}

                            @Override
                            void register() throws IOException {
                                List<BindableService> all = new ArrayList<>(services());
                                all.add(parts.registration.apply(this));
                                registry.start(all);
                            }
                        };
        parts.registration =
                driver ->
                        new Registration(driver) {
                            @Override
                            String endpoint() {
                                return "";
                            }
                        };
    }

    private static void alone(Parts parts, String version, Class<?> plugin) {
        parts.driver =
                given ->
                        new BareDriver(given, parts) {
                            @Override
                            List<BindableService> services() {
                                return super.services().stream()
                                        .filter(each -> plugin.isInstance(each) || each == health)
                                        .toList();
                            }
                        };
        parts.registration =
                driver ->
                        new Registration(driver) {
                            @Override
                            List<String> versions() {
                                return super.versions().stream()
                                        .filter(each -> each.equals(version) || isHealth(each))
                                        .toList();
                            }
                        };
    }

    private static boolean isHealth(String version) {
        return version.equals(HealthReports.SERVICE);
    }

    private static void network(Parts parts) {
        parts.plan =
                driver ->
                        new SlicePlan(driver) {
                            @Override
                            ObjectNode placement(ObjectNode spec) {
                                return spec.put("allNodes", true);
                            }
                        };
        parts.publisher =
                driver ->
                        new Publisher(driver) {
                            @Override
                            String selector() {
                                return URLEncoder.encode(
                                        "spec.driver=" + driver.settings.driver(),
                                        StandardCharsets.UTF_8);
                            }

                            @Override
                            List<JsonNode> existing() {
                                return super.existing().stream()
                                        .filter(slice -> slice.at("/spec/allNodes").asBoolean())
                                        .toList();
                            }
                        };
        parts.inventory =
                settings ->
                        new Inventory(settings) {
                            @Override
                            List<String> poolNames() {
                                return List.of("network");
                            }
                        };
    }

    /** As slow as the kubelet just bears, for all claims of a call at once. */
    private static final class SlowCalls extends Calls {
        SlowCalls(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            if (!claims.isEmpty()) {
                Pauses.millis(20_000);
            }
            return super.prepare(version, claims);
        }
    }

    /** Slow with each claim, one after the other. */
    private static final class SlowWork extends ClaimWork {
        SlowWork(BareDriver driver) {
            super(driver);
        }

        @Override
        JsonNode fetch(ClaimId id) {
            Pauses.millis(2_000);
            return super.fetch(id);
        }
    }

    private static void slowPublishing(Parts parts, long delay) {
        parts.publisher =
                driver ->
                        new Publisher(driver) {
                            @Override
                            void start() {
                                Pauses.later(delay, super::start);
                            }
                        };
    }

    private static void noSlices(Parts parts) {
        parts.settings = given -> given.with("--num-devices", "0");
        parts.publisher =
                driver ->
                        new Publisher(driver) {
                            @Override
                            void start() {}
                        };
    }

    /** Knows of claims what their specs say. */
    private static final class NoState extends StateFile {
        NoState(Settings settings) {
            super(settings);
        }

        @Override
        Optional<Map<String, ObjectNode>> read() {
            return Optional.empty();
        }

        @Override
        void write(Map<String, ObjectNode> claims) {}
    }

    private static final class SharesTwice extends ClaimWork {
        SharesTwice(BareDriver driver) {
            super(driver);
        }

        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            devices.addAll(devices.stream().filter(device -> !device.share().isEmpty()).toList());
            return devices;
        }
    }

    private static final class FailingClosed extends StateFile {
        FailingClosed(Settings settings) {
            super(settings);
        }

        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            throw new Refused("The state is damaged, mend or remove it: " + file);
        }
    }

    private static final class CheckingFirst extends BareDriver {
        CheckingFirst(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void start() throws IOException {
            calls.work.state.read().ifPresent(LinkedHashMap::new);
            super.start();
        }
    }

    private static final class FixedNames extends SlicePlan {
        FixedNames(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode named(ObjectNode metadata, String pool, int index) {
            return metadata.put("name", driver.settings.driver() + "-" + pool + "-" + index);
        }
    }

    private static final class Backwards extends ClaimWork {
        Backwards(BareDriver driver) {
            super(driver);
        }

        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            Collections.reverse(devices);
            return devices;
        }
    }
}

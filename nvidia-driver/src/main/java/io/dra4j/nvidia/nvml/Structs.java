// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;

/**
 * The structs of NVML, field by field. A versioned struct has version and size in its first field.
 */
final class Structs {

    private Structs() {}

    static int version(Structure struct, int number) {
        return struct.size() | number << 24;
    }

    @FieldOrder({
        "busIdLegacy",
        "domain",
        "bus",
        "device",
        "pciDeviceId",
        "pciSubSystemId",
        "busId"
    })
    public static final class PciInfo extends Structure {
        public byte[] busIdLegacy = new byte[16];
        public int domain;
        public int bus;
        public int device;
        public int pciDeviceId;
        public int pciSubSystemId;
        public byte[] busId = new byte[32];
    }

    @FieldOrder({"total", "free", "used"})
    public static final class MemoryInfo extends Structure {
        public long total;
        public long free;
        public long used;
    }

    @FieldOrder({
        "multiprocessorCount",
        "sharedCopyEngineCount",
        "sharedDecoderCount",
        "sharedEncoderCount",
        "sharedJpegCount",
        "sharedOfaCount",
        "gpuInstanceSliceCount",
        "computeInstanceSliceCount",
        "memorySizeMB"
    })
    public static final class DeviceAttributes extends Structure {
        public int multiprocessorCount;
        public int sharedCopyEngineCount;
        public int sharedDecoderCount;
        public int sharedEncoderCount;
        public int sharedJpegCount;
        public int sharedOfaCount;
        public int gpuInstanceSliceCount;
        public int computeInstanceSliceCount;
        public long memorySizeMB;
    }

    @FieldOrder({"version", "value"})
    public static final class AddressingMode extends Structure {
        public int version;
        public int value;
    }

    @FieldOrder({"version", "clusterUuid", "status", "cliqueId", "state", "healthMask"})
    public static final class FabricInfo extends Structure {
        public int version;
        public byte[] clusterUuid = new byte[16];
        public int status;
        public int cliqueId;
        public byte state;
        public int healthMask;
    }

    @FieldOrder({"clusterUuid", "status", "cliqueId", "state"})
    public static final class OldFabricInfo extends Structure {
        public byte[] clusterUuid = new byte[16];
        public int status;
        public int cliqueId;
        public byte state;
    }

    @FieldOrder({"start", "size"})
    public static class PlacementStruct extends Structure {
        public int start;
        public int size;

        public PlacementStruct() {}

        PlacementStruct(int start, int size) {
            this.start = start;
            this.size = size;
        }
    }

    @FieldOrder({
        "id",
        "isP2pSupported",
        "sliceCount",
        "instanceCount",
        "multiprocessorCount",
        "copyEngineCount",
        "decoderCount",
        "encoderCount",
        "jpegCount",
        "ofaCount",
        "memorySizeMB"
    })
    public static final class GpuInstanceProfile extends Structure {
        public int id;
        public int isP2pSupported;
        public int sliceCount;
        public int instanceCount;
        public int multiprocessorCount;
        public int copyEngineCount;
        public int decoderCount;
        public int encoderCount;
        public int jpegCount;
        public int ofaCount;
        public long memorySizeMB;
    }

    @FieldOrder({"device", "id", "profileId", "placement"})
    public static final class GpuInstanceInfo extends Structure {
        public Pointer device;
        public int id;
        public int profileId;
        public PlacementStruct placement = new PlacementStruct();
    }

    @FieldOrder({
        "id",
        "sliceCount",
        "instanceCount",
        "multiprocessorCount",
        "sharedCopyEngineCount",
        "sharedDecoderCount",
        "sharedEncoderCount",
        "sharedJpegCount",
        "sharedOfaCount"
    })
    public static final class ComputeInstanceProfile extends Structure {
        public int id;
        public int sliceCount;
        public int instanceCount;
        public int multiprocessorCount;
        public int sharedCopyEngineCount;
        public int sharedDecoderCount;
        public int sharedEncoderCount;
        public int sharedJpegCount;
        public int sharedOfaCount;
    }

    @FieldOrder({"device", "gpuInstance", "id", "profileId", "placement"})
    public static final class ComputeInstanceInfo extends Structure {
        public Pointer device;
        public Pointer gpuInstance;
        public int id;
        public int profileId;
        public PlacementStruct placement = new PlacementStruct();
    }

    @FieldOrder({"device", "eventType", "eventData", "gpuInstanceId", "computeInstanceId"})
    public static final class EventData extends Structure {
        public Pointer device;
        public long eventType;
        public long eventData;
        public int gpuInstanceId;
        public int computeInstanceId;
    }

    /** The union of its value is read as an unsigned number, of which all actions are. */
    @FieldOrder({
        "fieldId",
        "scopeId",
        "timestamp",
        "latencyUsec",
        "valueType",
        "nvmlReturn",
        "value"
    })
    public static final class FieldValue extends Structure {
        public int fieldId;
        public int scopeId;
        public long timestamp;
        public long latencyUsec;
        public int valueType;
        public int nvmlReturn;
        public long value;
    }
}

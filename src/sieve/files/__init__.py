"""Files on disk: written whole or not at all, read whole or refused.

Everything that Sieve writes goes through `atomic`, so that a killed process leaves either the old
state or the new one, and two processes never write the same file; what others wrote is read by
`regular`, `tensor_files` and `folder`. Knows neither models nor corpora.
"""

from sieve.files.atomic import (
    claim_partial,
    copy_file,
    json_values,
    put_in_place,
    replace_directory,
    replaceable,
    whole_directory,
    whole_file,
    writable,
    write_json,
)
from sieve.files.folder import Folder, Place, folder_of, is_plain
from sieve.files.regular import (
    ALIGNMENT,
    check_name,
    file_hash,
    read_content,
    read_json,
    regular_file,
)
from sieve.files.sealed import CAN_SEAL, SealedFolder, seal_folder, sealed_folder
from sieve.files.tensor_files import (
    TensorFile,
    Tensors,
    check_shapes,
    map_tensors,
    read_tensors,
    write_tensors,
)

__all__ = [
    "ALIGNMENT",
    "CAN_SEAL",
    "Folder",
    "Place",
    "SealedFolder",
    "TensorFile",
    "Tensors",
    "check_name",
    "check_shapes",
    "claim_partial",
    "copy_file",
    "file_hash",
    "folder_of",
    "is_plain",
    "json_values",
    "map_tensors",
    "put_in_place",
    "read_content",
    "read_json",
    "read_tensors",
    "regular_file",
    "replace_directory",
    "replaceable",
    "seal_folder",
    "sealed_folder",
    "whole_directory",
    "whole_file",
    "writable",
    "write_json",
    "write_tensors",
]

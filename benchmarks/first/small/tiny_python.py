"""A hundred functions of a line each, called in turns."""


def f0(x: int) -> int:
    return (x * 2 + 0) % 1009


def f1(x: int) -> int:
    return (x * 3 + 7) % 1010


def f2(x: int) -> int:
    return (x * 4 + 14) % 1011


def f3(x: int) -> int:
    return (x * 5 + 21) % 1012


def f4(x: int) -> int:
    return (x * 6 + 28) % 1013


def f5(x: int) -> int:
    return (x * 7 + 4) % 1014


def f6(x: int) -> int:
    return (x * 8 + 11) % 1015


def f7(x: int) -> int:
    return (x * 9 + 18) % 1016


def f8(x: int) -> int:
    return (x * 10 + 25) % 1017


def f9(x: int) -> int:
    return (x * 2 + 1) % 1018


def f10(x: int) -> int:
    return (x * 3 + 8) % 1019


def f11(x: int) -> int:
    return (x * 4 + 15) % 1020


def f12(x: int) -> int:
    return (x * 5 + 22) % 1021


def f13(x: int) -> int:
    return (x * 6 + 29) % 1022


def f14(x: int) -> int:
    return (x * 7 + 5) % 1023


def f15(x: int) -> int:
    return (x * 8 + 12) % 1024


def f16(x: int) -> int:
    return (x * 9 + 19) % 1025


def f17(x: int) -> int:
    return (x * 10 + 26) % 1026


def f18(x: int) -> int:
    return (x * 2 + 2) % 1027


def f19(x: int) -> int:
    return (x * 3 + 9) % 1028


def f20(x: int) -> int:
    return (x * 4 + 16) % 1029


def f21(x: int) -> int:
    return (x * 5 + 23) % 1030


def f22(x: int) -> int:
    return (x * 6 + 30) % 1031


def f23(x: int) -> int:
    return (x * 7 + 6) % 1032


def f24(x: int) -> int:
    return (x * 8 + 13) % 1033


def f25(x: int) -> int:
    return (x * 9 + 20) % 1034


def f26(x: int) -> int:
    return (x * 10 + 27) % 1035


def f27(x: int) -> int:
    return (x * 2 + 3) % 1036


def f28(x: int) -> int:
    return (x * 3 + 10) % 1037


def f29(x: int) -> int:
    return (x * 4 + 17) % 1038


def f30(x: int) -> int:
    return (x * 5 + 24) % 1039


def f31(x: int) -> int:
    return (x * 6 + 0) % 1040


def f32(x: int) -> int:
    return (x * 7 + 7) % 1041


def f33(x: int) -> int:
    return (x * 8 + 14) % 1042


def f34(x: int) -> int:
    return (x * 9 + 21) % 1043


def f35(x: int) -> int:
    return (x * 10 + 28) % 1044


def f36(x: int) -> int:
    return (x * 2 + 4) % 1045


def f37(x: int) -> int:
    return (x * 3 + 11) % 1046


def f38(x: int) -> int:
    return (x * 4 + 18) % 1047


def f39(x: int) -> int:
    return (x * 5 + 25) % 1048


def f40(x: int) -> int:
    return (x * 6 + 1) % 1049


def f41(x: int) -> int:
    return (x * 7 + 8) % 1050


def f42(x: int) -> int:
    return (x * 8 + 15) % 1051


def f43(x: int) -> int:
    return (x * 9 + 22) % 1052


def f44(x: int) -> int:
    return (x * 10 + 29) % 1053


def f45(x: int) -> int:
    return (x * 2 + 5) % 1054


def f46(x: int) -> int:
    return (x * 3 + 12) % 1055


def f47(x: int) -> int:
    return (x * 4 + 19) % 1056


def f48(x: int) -> int:
    return (x * 5 + 26) % 1057


def f49(x: int) -> int:
    return (x * 6 + 2) % 1058


def f50(x: int) -> int:
    return (x * 7 + 9) % 1059


def f51(x: int) -> int:
    return (x * 8 + 16) % 1060


def f52(x: int) -> int:
    return (x * 9 + 23) % 1061


def f53(x: int) -> int:
    return (x * 10 + 30) % 1062


def f54(x: int) -> int:
    return (x * 2 + 6) % 1063


def f55(x: int) -> int:
    return (x * 3 + 13) % 1064


def f56(x: int) -> int:
    return (x * 4 + 20) % 1065


def f57(x: int) -> int:
    return (x * 5 + 27) % 1066


def f58(x: int) -> int:
    return (x * 6 + 3) % 1067


def f59(x: int) -> int:
    return (x * 7 + 10) % 1068


def f60(x: int) -> int:
    return (x * 8 + 17) % 1069


def f61(x: int) -> int:
    return (x * 9 + 24) % 1070


def f62(x: int) -> int:
    return (x * 10 + 0) % 1071


def f63(x: int) -> int:
    return (x * 2 + 7) % 1072


def f64(x: int) -> int:
    return (x * 3 + 14) % 1073


def f65(x: int) -> int:
    return (x * 4 + 21) % 1074


def f66(x: int) -> int:
    return (x * 5 + 28) % 1075


def f67(x: int) -> int:
    return (x * 6 + 4) % 1076


def f68(x: int) -> int:
    return (x * 7 + 11) % 1077


def f69(x: int) -> int:
    return (x * 8 + 18) % 1078


def f70(x: int) -> int:
    return (x * 9 + 25) % 1079


def f71(x: int) -> int:
    return (x * 10 + 1) % 1080


def f72(x: int) -> int:
    return (x * 2 + 8) % 1081


def f73(x: int) -> int:
    return (x * 3 + 15) % 1082


def f74(x: int) -> int:
    return (x * 4 + 22) % 1083


def f75(x: int) -> int:
    return (x * 5 + 29) % 1084


def f76(x: int) -> int:
    return (x * 6 + 5) % 1085


def f77(x: int) -> int:
    return (x * 7 + 12) % 1086


def f78(x: int) -> int:
    return (x * 8 + 19) % 1087


def f79(x: int) -> int:
    return (x * 9 + 26) % 1088


def f80(x: int) -> int:
    return (x * 10 + 2) % 1089


def f81(x: int) -> int:
    return (x * 2 + 9) % 1090


def f82(x: int) -> int:
    return (x * 3 + 16) % 1091


def f83(x: int) -> int:
    return (x * 4 + 23) % 1092


def f84(x: int) -> int:
    return (x * 5 + 30) % 1093


def f85(x: int) -> int:
    return (x * 6 + 6) % 1094


def f86(x: int) -> int:
    return (x * 7 + 13) % 1095


def f87(x: int) -> int:
    return (x * 8 + 20) % 1096


def f88(x: int) -> int:
    return (x * 9 + 27) % 1097


def f89(x: int) -> int:
    return (x * 10 + 3) % 1098


def f90(x: int) -> int:
    return (x * 2 + 10) % 1099


def f91(x: int) -> int:
    return (x * 3 + 17) % 1100


def f92(x: int) -> int:
    return (x * 4 + 24) % 1101


def f93(x: int) -> int:
    return (x * 5 + 0) % 1102


def f94(x: int) -> int:
    return (x * 6 + 7) % 1103


def f95(x: int) -> int:
    return (x * 7 + 14) % 1104


def f96(x: int) -> int:
    return (x * 8 + 21) % 1105


def f97(x: int) -> int:
    return (x * 9 + 28) % 1106


def f98(x: int) -> int:
    return (x * 10 + 4) % 1107


def f99(x: int) -> int:
    return (x * 2 + 11) % 1108


def main() -> None:
    x = 1
    for _ in range(1000):
        x = f0(x)
        x = f1(x)
        x = f2(x)
        x = f3(x)
        x = f4(x)
        x = f5(x)
        x = f6(x)
        x = f7(x)
        x = f8(x)
        x = f9(x)
        x = f10(x)
        x = f11(x)
        x = f12(x)
        x = f13(x)
        x = f14(x)
        x = f15(x)
        x = f16(x)
        x = f17(x)
        x = f18(x)
        x = f19(x)
        x = f20(x)
        x = f21(x)
        x = f22(x)
        x = f23(x)
        x = f24(x)
        x = f25(x)
        x = f26(x)
        x = f27(x)
        x = f28(x)
        x = f29(x)
        x = f30(x)
        x = f31(x)
        x = f32(x)
        x = f33(x)
        x = f34(x)
        x = f35(x)
        x = f36(x)
        x = f37(x)
        x = f38(x)
        x = f39(x)
        x = f40(x)
        x = f41(x)
        x = f42(x)
        x = f43(x)
        x = f44(x)
        x = f45(x)
        x = f46(x)
        x = f47(x)
        x = f48(x)
        x = f49(x)
        x = f50(x)
        x = f51(x)
        x = f52(x)
        x = f53(x)
        x = f54(x)
        x = f55(x)
        x = f56(x)
        x = f57(x)
        x = f58(x)
        x = f59(x)
        x = f60(x)
        x = f61(x)
        x = f62(x)
        x = f63(x)
        x = f64(x)
        x = f65(x)
        x = f66(x)
        x = f67(x)
        x = f68(x)
        x = f69(x)
        x = f70(x)
        x = f71(x)
        x = f72(x)
        x = f73(x)
        x = f74(x)
        x = f75(x)
        x = f76(x)
        x = f77(x)
        x = f78(x)
        x = f79(x)
        x = f80(x)
        x = f81(x)
        x = f82(x)
        x = f83(x)
        x = f84(x)
        x = f85(x)
        x = f86(x)
        x = f87(x)
        x = f88(x)
        x = f89(x)
        x = f90(x)
        x = f91(x)
        x = f92(x)
        x = f93(x)
        x = f94(x)
        x = f95(x)
        x = f96(x)
        x = f97(x)
        x = f98(x)
        x = f99(x)
    print(x)


main()
